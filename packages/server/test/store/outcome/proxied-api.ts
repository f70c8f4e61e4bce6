import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type Database, Engine, openDatabase } from "@carillon/engine";
import { freshDatabase, TcpProxy } from "@carillon/testkit";
import { apiUnderTest, json } from "../../unit/api/api-under-test.js";

const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

/** Rows that a call may leave behind without having its effect: its key, and names that it mentioned. */
const names = ["idempotency_key", "queue", "lane", "task", "setting", "node", "shard", "revision"];

/** The API over an engine whose database is behind a proxy, and a connection past it. The engine's loops rest. */
export async function proxiedApi() {
  const fresh = await freshDatabase({ migrated: true });
  let sent = 0;
  let lost: number | null = null;
  let onLose: () => void = () => undefined;
  const proxy = await TcpProxy.start(fresh.url, {
    filter(chunk, from) {
      // The proxy loses the answer to the chunk after this one.
      if (from === "client" && lost !== null && ++sent === lost) onLose();
      return chunk;
    },
  });
  onLose = () => proxy.loseAnswerTo("");
  const direct = await openDatabase({ url: fresh.url, schema: "carillon", ...ports });
  // One connection of each kind, so that every call uses those that are open.
  const database = await openDatabase({ url: proxy.through(fresh.url), schema: "carillon", poolSize: 6, ...ports });
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const engine = new Engine({
    database,
    ...ports,
    newId,
    node: { name: "test", address: null, version: "0" },
    alone: true,
  });
  await engine.start();
  await engine.stop();
  const api = apiUnderTest({ engine, workers: engine.workerApi, now: () => database.clock.now() });
  return {
    ...api,
    direct,
    newId,
    call: (method: "POST" | "PUT" | "PATCH" | "DELETE" | "GET", url: string, body?: unknown, key?: string) =>
      api.call({
        method,
        url,
        headers: { ...(body !== undefined && json), ...(key !== undefined && { "idempotency-key": key }) },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      }),
    /** The database executes the nth message of the coming calls, and its answer is lost. */
    loseAnswer(nth: number): void {
      sent = 0;
      lost = nth - 1;
      if (lost === 0) onLose();
    },
    /** Whether an answer was lost. The next calls work again. */
    async heal(): Promise<boolean> {
      const isLost = sent >= (lost ?? 0) && !proxy.isWaitingToLose;
      lost = null;
      await proxy.resume();
      await database.waitUntilUp();
      // Every connection that broke has been opened again.
      for (const way of [database, database.hot, database.reserved])
        await way.query({ text: "select 1" }).catch(() => way.query({ text: "select 1" }));
      return isLost;
    },
    state: () => stateOf(direct),
    async close() {
      await Promise.all([database.close(), direct.close()]);
      await proxy.close();
      await fresh.drop();
    },
  };
}

export type ProxiedApi = Awaited<ReturnType<typeof proxiedApi>>;

/** Each table with the number of its rows and the transaction that last wrote one. */
async function stateOf(database: Database): Promise<Record<string, string>> {
  const tables = await database.query<{ name: string }>({
    text: `select relname as name from pg_class where relnamespace = 'carillon'::regnamespace and relkind in ('r', 'p')
             and not relispartition order by relname`,
  });
  const state: Record<string, string> = {};
  for (const { name } of tables.rows.filter((one) => !names.includes(one.name))) {
    const { rows } = await database.query<{ rows: string; last: string }>({
      text: `select count(*) as rows, coalesce(max(xmin::text::bigint), 0) as last from carillon.${name}`,
    });
    state[name] = `${rows[0]?.rows} ${rows[0]?.last}`;
  }
  return state;
}
