import { randomBytes } from "node:crypto";
import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import { migrate, openDatabase } from "@carillon/engine";
import { type TestServer, asAdmin, createDatabase, dropDatabase, testServer, urlOf } from "./test-server.js";

export interface FreshDatabase {
  readonly url: string;
  readonly name: string;
  /** Ends all sessions and removes the database. Otherwise the end of the run removes it. */
  readonly drop: () => Promise<void>;
}

export interface FreshDatabaseOptions {
  /** With the schema `carillon` at the newest migration, cloned from a template; otherwise empty. */
  readonly migrated?: boolean;
}

let template: Promise<string> | undefined;

/** A database for this caller alone, on the server of the test run. Any number of test workers may call. */
export async function freshDatabase({ migrated = false }: FreshDatabaseOptions = {}): Promise<FreshDatabase> {
  const server = await testServer();
  if (migrated) template ??= migratedTemplate(server);
  const source = (migrated && (await template)) || "template0";
  const name = `${server.prefix}${randomBytes(6).toString("hex")}`;
  await asAdmin(server, (admin) => createDatabase(admin, name, source));
  return {
    url: urlOf(server, name),
    name,
    drop: () => asAdmin(server, (admin) => dropDatabase(admin, name)),
  };
}

/**
 * The name of a database with all migrations, made once per run. Test workers are processes, so an advisory lock lets one make
 * it while the others wait. It is marked as a template when it is complete; the incomplete one of a killed worker is made again.
 */
async function migratedTemplate(server: TestServer): Promise<string> {
  const name = `${server.prefix}template`;
  await asAdmin(server, async (admin) => {
    await admin.query("select pg_advisory_lock(hashtext($1))", [name]);
    const whole = await admin.query("select from pg_database where datname = $1 and datistemplate", [name]);
    if (whole.rowCount === 1) return;
    await dropDatabase(admin, name);
    await createDatabase(admin, name, "template0");
    await migrateAt(urlOf(server, name));
    await admin.query(`alter database ${name} is_template true`);
  });
  return name;
}

async function migrateAt(url: string): Promise<void> {
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
