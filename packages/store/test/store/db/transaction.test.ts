import type { CarillonError } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { sqlStateOf } from "../../../src/db/errors.js";
import type { Database } from "../../../src/db/database.js";
import type { Queryable } from "../../../src/db/queryable.js";
import { type EventLog, eventually, fileUrl, open, outsider, text } from "./support.js";

const withTable = async (
  options: Partial<Parameters<typeof open>[0]> = {},
): Promise<{ database: Database; events: EventLog; url: string }> => {
  const url = await fileUrl();
  const opened = await open({ url, ...options });
  await opened.database.query(text("drop table if exists t; create table t (id int primary key, n int not null)"));
  await opened.database.query(text("insert into t values (1, 0), (2, 0)"));
  return { ...opened, url };
};

const numbers = async (database: Queryable): Promise<number[]> =>
  (await database.query<{ n: number }>(text("select n from t order by id"))).rows.map(({ n }) => n);

describe("transaction", () => {
  it("commits its work and returns the result", async () => {
    const { database } = await withTable();
    const result = await database.transaction(async (tx) => {
      await tx.query(text("update t set n = 1"));
      return "done";
    });
    expect(result).toBe("done");
    expect(await numbers(database)).toEqual([1, 1]);
  });

  it("rolls back and gives its connection back when its work throws", async () => {
    const { database } = await withTable({ poolSize: 4 });
    const failing = database.transaction(async (tx) => {
      await tx.query(text("update t set n = 1"));
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await numbers(database)).toEqual([0, 0]);
  });

  it("refuses a statement after its end, so that nothing is written outside it", async () => {
    const { database } = await withTable();
    const leaked = await database.transaction(async (tx) => tx);
    await expect(leaked.query(text("update t set n = 1"))).rejects.toThrow(/over/);
    expect(await numbers(database)).toEqual([0, 0]);
  });

  it("runs at the requested isolation", async () => {
    const { database } = await withTable();
    const level = await database.transaction(
      async (tx) => (await tx.query(text("select current_setting('transaction_isolation') as level"))).rows,
      { isolation: "serializable" },
    );
    expect(level).toEqual([{ level: "serializable" }]);
  });

  it("runs again from its start after a serialization failure", async () => {
    const { database, events } = await withTable();
    let tries = 0;
    await database.transaction(
      async (tx) => {
        tries++;
        const [first] = await numbers(tx);
        if (tries === 1) await database.query(text("update t set n = 5 where id = 1"));
        await tx.query(text(`update t set n = ${(first ?? 0) + 1} where id = 1`));
      },
      { isolation: "repeatable read" },
    );
    expect(tries).toBe(2);
    expect(await numbers(database)).toEqual([6, 0]);
    expect(events.list).toContainEqual({ type: "transaction.retried", sqlState: "40001", attempt: 1 });
  });

  it("runs the victim of a deadlock again", async () => {
    const { database, events } = await withTable();
    let inside = 0;
    let meet: () => void = () => undefined;
    const both = new Promise<void>((resolve) => (meet = resolve));
    const cross = (first: number, second: number): Promise<void> =>
      database.transaction(async (tx) => {
        await tx.query(text(`update t set n = n + 1 where id = ${first}`));
        if (++inside === 2) meet();
        await both;
        await tx.query(text(`update t set n = n + 1 where id = ${second}`));
      });
    await Promise.all([cross(1, 2), cross(2, 1)]);
    expect(await numbers(database)).toEqual([2, 2]);
    expect(events.list).toContainEqual({ type: "transaction.retried", sqlState: "40P01", attempt: 1 });
  });

  it.each(["query", "hot", "reserved"] as const)(
    "is not needed for a deadlock victim outside a transaction: %s",
    async (way) => {
      const { database } = await withTable({ poolSize: 4 });
      // Values of a sequence are not rolled back.
      await database.query(text("drop sequence if exists tries; create sequence tries"));
      const victim = "if nextval('tries') < 3 then raise exception 'a deadlock' using errcode = '40P01'; end if";
      const sql = text(`do $$ begin update t set n = n + 1; ${victim}; end $$`);
      await (way === "query" ? database : database[way]).query(sql);
      expect(await numbers(database)).toEqual([1, 1]);
    },
  );

  it("gives up after its retries", async () => {
    const { database } = await withTable();
    let tries = 0;
    const failing = database.transaction(
      async (tx) => {
        tries++;
        await tx.query(text("do $$ begin raise exception 'again' using errcode = '40001'; end $$"));
      },
      { retries: 2 },
    );
    expect(sqlStateOf(await failing.catch((error: unknown) => error))).toBe("40001");
    expect(tries).toBe(3);
  });

  it.each([
    [false, 1],
    [true, 2],
  ])("after a lost connection runs again only if it is repeatable: %s", async (repeatable, expected) => {
    const { database, url } = await withTable();
    const admin = await outsider(url);
    let tries = 0;
    const attempt = database.transaction(
      async (tx) => {
        tries++;
        const { rows } = await tx.query<{ pid: number }>(text("select pg_backend_pid() as pid"));
        if (tries === 1) await admin.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
        await tx.query(text("update t set n = n + 1"));
      },
      { repeatable },
    );
    const outcome = await attempt.then(
      () => "done",
      (error: CarillonError) => error.code,
    );
    expect(outcome).toBe(repeatable ? "done" : "database_unavailable");
    expect(tries).toBe(expected);
    expect(await numbers(database)).toEqual(repeatable ? [1, 1] : [0, 0]);
  });

  it("is ended by the server when its client is silent, and releases its locks", async () => {
    const { database, url } = await withTable({ timeouts: { idleInTransactionMs: 50 } });
    const admin = await outsider(url);
    const silent = database.transaction(async (tx) => {
      await tx.query(text("update t set n = 1"));
      await eventually(async () => {
        const { rowCount } = await admin.query("select from pg_locks where relation = 't'::regclass");
        return rowCount === 0;
      });
      await tx.query(text("update t set n = 2"));
    });
    await expect(silent).rejects.toMatchObject({ code: expect.stringMatching(/^database_(timeout|unavailable)$/) });
    expect(await numbers(database)).toEqual([0, 0]);
  });

  it("is ended at its own time limit", async () => {
    const { database } = await withTable();
    const slow = database.transaction((tx) => tx.query(text("select pg_sleep(60)")), { timeoutMs: 50 });
    await expect(slow).rejects.toMatchObject({ code: "database_timeout" });
    expect(await numbers(database)).toEqual([0, 0]);
  });

  it("may have a longer limit than a single statement", async () => {
    const { database } = await open({ url: await fileUrl(), timeouts: { statementMs: 300 } });
    const slow = database.transaction((tx) => tx.query(text("select pg_sleep(0.5), 1 as one")), { timeoutMs: 30_000 });
    expect((await slow).rows).toMatchObject([{ one: 1 }]);
  });

  it("takes statements that are sent without waiting for each other", async () => {
    const { database } = await withTable();
    const results = await database.transaction((tx) =>
      Promise.all([1, 2, 3].map((n) => tx.query(text(`select ${n} as n`)))),
    );
    expect(results.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]]);
  });
});

describe("a statement", () => {
  it("that takes longer than its limit is reported as database_timeout", async () => {
    const { database } = await open({ url: await fileUrl(), timeouts: { statementMs: 300, hotStatementMs: 300 } });
    await expect(database.query(text("select pg_sleep(60)"))).rejects.toMatchObject({ code: "database_timeout" });
    await expect(database.hot.query(text("select pg_sleep(60)"))).rejects.toMatchObject({ code: "database_timeout" });
  });
});
