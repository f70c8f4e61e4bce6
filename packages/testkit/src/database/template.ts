import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import { migrate, openDatabase } from "@carillon/engine";
import { asAdmin, createDatabase, dropDatabase } from "./admin.js";
import { type TestServer, urlOf } from "./test-server.js";

/**
 * The name of a database with all migrations, made once per run. Test workers are processes, so an advisory lock lets
 * one make it while the others wait. It is marked as a template only when it is whole: what a killed worker left half
 * made is made again.
 */
export async function migratedTemplate(server: TestServer): Promise<string> {
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
