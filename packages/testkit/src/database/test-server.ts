import { Client } from "pg";
import type { ProvidedContext } from "vitest";

/** The PostgreSQL server of one test run. */
export interface TestServer {
  readonly url: string;
  /** The prefix of every database name of this run. */
  readonly prefix: string;
}

declare module "vitest" {
  interface ProvidedContext {
    testServer: TestServer;
  }
}

/** The server of the run's global setup. Vitest is imported here only, so that other users of the testkit do not need it. */
export async function testServer(): Promise<ProvidedContext["testServer"]> {
  const { inject } = await import("vitest");
  return inject("testServer");
}

/** The URL of another database on the same server. */
export function urlOf(server: TestServer, database: string): string {
  const url = new URL(server.url);
  url.pathname = `/${database}`;
  return url.href;
}

/** Runs statements as superuser on a new connection. */
export async function asAdmin<T>(server: TestServer, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** Clones a template with the strategy file_copy, which takes a fifth of the time of the default; before 15 it is the only one. */
export async function createDatabase(admin: Client, name: string, template: string): Promise<void> {
  const { rows } = await admin.query<{ recent: boolean }>(
    "select current_setting('server_version_num')::int >= 150000 as recent",
  );
  await admin.query(`create database ${name} template ${template}${rows[0]?.recent ? " strategy file_copy" : ""}`);
}

/**
 * Ends all sessions of the database and removes it. `end()` of a pool resolves before its connections are closed, and a connection
 * that the server ends is an uncaught error in the test's process, so sessions that are about to end get a moment for it.
 */
export async function dropDatabase(admin: Client, name: string): Promise<void> {
  await admin.query(
    `do $$ begin
      for i in 1..50 loop
        exit when not exists (select from pg_stat_activity where datname = '${name}' and backend_type = 'client backend');
        perform pg_sleep(0.01), pg_stat_clear_snapshot();
      end loop;
    end $$`,
  );
  await admin.query(`drop database if exists ${name} with (force)`);
}

/** Drops the remaining databases of the run. */
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
