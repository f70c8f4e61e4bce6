import type { CarillonError } from "@carillon/core";
import type { TcpProxy } from "@carillon/testkit";
import { describe, expect, it } from "vitest";
import { Coalescer } from "../../../src/db/coalescer.js";
import type { Database } from "../../../src/db/database.js";
import { fileUrl, kill, open, outsider, proxyTo, text } from "./support.js";

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "done",
    (error: CarillonError) => error.code,
  );

interface Harness {
  readonly database: Database;
  readonly proxy: TcpProxy;
  /** The stored rows, read past the proxy. */
  stored(): Promise<number[]>;
}

/** With the end of the message: BEGIN names the isolation level "read committed". */
const commit = "commit\0";
let tables = 0;

/** A database behind a proxy, with a table of its own. */
async function harness(): Promise<Harness & { readonly table: string }> {
  const url = await fileUrl();
  const admin = await outsider(url);
  const table = `outcome_${++tables}`;
  await admin.query(`create table ${table} (n int primary key)`);
  const proxy = await proxyTo(url);
  const { database } = await open({ url: proxy.through(url), poolSize: 6 });
  await Promise.all([database.query(text("select 1")), database.hot.query(text("select 1"))]);
  const stored = async (): Promise<number[]> =>
    (await admin.query<{ n: number }>(`select n from ${table} order by n`)).rows.map(({ n }) => n);
  return { database, proxy, stored, table };
}

describe("a connection that is lost after a statement was sent", () => {
  it.each(["pool", "hot", "reserved"] as const)(
    "leaves the outcome of a write outside a transaction unknown on the connection %s",
    async (way) => {
      const { database, proxy, stored, table } = await harness();
      proxy.loseAnswerTo(`insert into ${table}`);
      const on = way === "pool" ? database : database[way];
      expect(await codeOf(on.query(text(`insert into ${table} values (1)`)))).toBe("outcome_unknown");
      await expect.poll(stored).toEqual([1]);
    },
  );

  it("leaves the outcome of a transaction unknown once COMMIT was sent, and not before", async () => {
    const { database, proxy, stored, table } = await harness();
    const add = (n: number) =>
      database.transaction((tx) => tx.query(text(`insert into ${table} values (${n}) -- number ${n}`)));
    proxy.loseAnswerTo("-- number 1");
    expect(await codeOf(add(1))).toBe("database_unavailable");
    proxy.loseAnswerTo(commit);
    expect(await codeOf(add(2))).toBe("outcome_unknown");
    await expect.poll(stored).toEqual([2]);
  });

  it("is never an unknown outcome of a read, alone or in a transaction", async () => {
    const { database, proxy } = await harness();
    proxy.loseAnswerTo("as alone");
    expect(await codeOf(database.query(text("select 1 as alone")))).toBe("database_unavailable");
    proxy.loseAnswerTo("as hot");
    expect(await codeOf(database.hot.query(text("select 1 as hot")))).toBe("database_unavailable");
    proxy.loseAnswerTo(commit);
    expect(await codeOf(database.transaction((tx) => tx.query(text("select 1"))))).toBe("database_unavailable");
  });

  it("leaves the outcome of every statement unknown that was pipelined on it", async () => {
    const { database, proxy, stored, table } = await harness();
    await database.hot.query(text("select 1"));
    proxy.loseAnswerTo(`insert into ${table} values (1)`);
    const [one, read, other] = await Promise.all([
      codeOf(database.hot.query(text(`insert into ${table} values (1)`))),
      codeOf(database.hot.query(text("select 1"))),
      codeOf(database.hot.query(text(`insert into ${table} values (2)`))),
    ]);
    expect([one, read, other]).toEqual(["outcome_unknown", "database_unavailable", "outcome_unknown"]);
    await expect.poll(stored).toContain(1);
  });

  it("leaves the outcome of every item of a coalesced batch unknown, and of no item that still waited", async () => {
    const { database, proxy, stored, table } = await harness();
    const inserts = new Coalescer<number, number>({
      maxBatch: 2,
      maxQueued: 10,
      write: async (batch) => {
        await database.query(text(`insert into ${table} values ${batch.map((n) => `(${n})`).join(", ")}`));
        return batch;
      },
    });
    proxy.loseAnswerTo(`insert into ${table} values (2), (3)`);
    const outcomes = [1, 2, 3, 4].map((n) => codeOf(inserts.add(n)));
    expect(await Promise.all(outcomes)).toEqual(["done", "outcome_unknown", "outcome_unknown", "done"]);
    await expect.poll(stored).toEqual([1, 2, 3, 4]);
  });
});

describe("a statement that was surely not executed", () => {
  it("fails as database_unavailable while no server listens", async () => {
    const { database, proxy, table } = await harness();
    await kill(proxy);
    const insert = text(`insert into ${table} values (1)`);
    // The first may still be sent on a connection whose end has not been noticed.
    await codeOf(database.query(insert));
    for (const way of [database, database.hot, database.reserved])
      expect(await codeOf(way.query(insert))).toBe("database_unavailable");
    expect(await codeOf(database.transaction((tx) => tx.query(insert)))).toBe("database_unavailable");
  });

  it("fails as database_unavailable if the server ended its session, because the server rolled it back", async () => {
    const { database, stored, table } = await harness();
    const admin = await outsider(await fileUrl());
    const sleeping = text(`insert into ${table} select 1 from pg_sleep(60)`);
    const outcome = codeOf(database.query(sleeping));
    await expect
      .poll(async () => {
        const { rowCount } = await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where query = $1",
          [sleeping.text],
        );
        return rowCount;
      })
      .toBe(1);
    expect(await outcome).toBe("database_unavailable");
    expect(await stored()).toEqual([]);
  });
});
