import { Client } from "pg";
import type { TestServer } from "./test-server.js";

/** Runs statements as the server's superuser on a connection of their own. */
export async function asAdmin<T>(server: TestServer, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** Clones a template file by file, which takes a fifth of the time of the default way; before 15 it is the only way. */
export async function createDatabase(admin: Client, name: string, template: string): Promise<void> {
  const { rows } = await admin.query<{ recent: boolean }>(
    "select current_setting('server_version_num')::int >= 150000 as recent",
  );
  await admin.query(`create database ${name} template ${template}${rows[0]?.recent ? " strategy file_copy" : ""}`);
}

export async function dropDatabase(admin: Client, name: string): Promise<void> {
  await admin.query(`drop database if exists ${name} with (force)`);
}

/** Drops whatever databases of the run are left. */
export async function dropAll(server: TestServer): Promise<void> {
  await asAdmin(server, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1)",
      [server.prefix],
    );
    for (const { name } of rows) {
      await admin.query(`alter database ${name} is_template false`);
      await dropDatabase(admin, name);
    }
  });
}
