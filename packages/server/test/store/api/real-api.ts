import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type Database, Engine, openDatabase } from "@carillon/engine";
import { freshDatabase } from "@carillon/testkit";
import { apiUnderTest } from "../../unit/api/api-under-test.js";

/** Every table that a call about jobs may change. */
const tables = [
  "job",
  "job_due",
  "job_version",
  "job_calendar",
  "occurrence",
  "run",
  "far_future_run",
  "run_history",
  "backfill",
  "operation",
  "redrive",
  "queue",
  "calendar",
  "calendar_version",
  "maintenance_window",
  "revision",
];

/** The tables that other calls may change. */
const moreTables = ["namespace", "worker_session", "limit_key", "dedupe", "idempotency_key", "webhook"];

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

/** The API over a real engine and PostgreSQL. Every response is compared with its declaration. */
export async function realApi() {
  const fresh = await freshDatabase({ migrated: true });
  const database = await openDatabase({ url: fresh.url, schema: "carillon", ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "test", address: null, version: "0" };
  const engine = new Engine({ database, ...ports, newId, node, alone: true });
  await engine.start();
  let isStarted = true;
  await database.query({ text: "insert into carillon.namespace (name) values ('other')" });
  const options = { engine, workers: engine.workerApi, now: () => database.clock.now() };
  return {
    ...apiUnderTest(options),
    /** A call from another namespace for the same jobs. */
    other: apiUnderTest({ ...options, namespace: "other" }),
    database,
    state: () => stateOf(database),
    /** The transactions that wrote the present rows: cheap to compare. */
    mark: () => markOf(database),
    /** Stops the loops of the node; calls still work. */
    async rest() {
      if (isStarted) await engine.stop();
      isStarted = false;
    },
    async close() {
      if (isStarted) await engine.stop();
      await database.close();
      await fresh.drop();
    },
  };
}

export type RealApi = Awaited<ReturnType<typeof realApi>>;

/** Every row has the number of the transaction that wrote it. */
async function markOf(database: Database): Promise<string> {
  const parts = [...tables, ...moreTables].map(
    (table) => `select '${table}' as name, count(*) as rows, max(xmin::text::bigint) as last from carillon.${table}`,
  );
  const text = `select string_agg(concat(name, rows, last), ' ' order by name) as mark from (${parts.join(" union all ")}) as t`;
  const { rows } = await database.query<{ mark: string }>({ text });
  return rows[0]?.mark ?? "";
}

/** The stored rows, in a form that shows any change. */
async function stateOf(database: Database): Promise<Record<string, string>> {
  const states: Record<string, string> = {};
  for (const table of tables) {
    const text = `select count(*) || ' ' || md5(coalesce(string_agg(t::text, '' order by t::text), '')) as state from carillon.${table} t`;
    const { rows } = await database.query<{ state: string }>({ text });
    states[table] = rows[0]?.state ?? "";
  }
  return states;
}
