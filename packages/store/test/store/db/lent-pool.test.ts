import { Pool } from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileUrl, open, outsider, text } from "./support.js";

const lend = async (max: number): Promise<{ pool: Pool; url: string }> => {
  const url = await fileUrl();
  const pool = new Pool({ connectionString: url, max, application_name: "the application" });
  pool.on("error", () => undefined);
  onTestFinished(() => pool.end());
  return { pool, url };
};

describe("the application's own pool", () => {
  it("serves statements, transactions, heartbeats and LISTEN within its own size", async () => {
    const { pool, url } = await lend(5);
    const { database, events } = await open({ pool });
    const received = new Promise<string>((resolve) => void database.listen("x", resolve, () => undefined));
    await events.next("listen.started");
    for (const way of [database, database.hot, database.reserved]) {
      expect((await way.query(text("select 1::int8 as one"))).rows).toEqual([{ one: 1 }]);
    }
    const sums = await database.transaction((tx) =>
      Promise.all([1, 2].map((n) => tx.query(text(`select ${n} + 1 as sum`)))),
    );
    expect(sums.map(({ rows }) => rows)).toEqual([[{ sum: 2 }], [{ sum: 3 }]]);
    database.notify("x", "hello");
    expect(await received).toBe("hello");
    const admin = await outsider(url);
    const { rows } = await admin.query(
      "select count(*)::int as n from pg_stat_activity where application_name = 'the application'",
    );
    expect(rows[0].n).toBeLessThanOrEqual(5);
  });

  it("keeps its settings and its parsers, and stays open", async () => {
    const { pool } = await lend(5);
    const before = await pool.query(
      "select current_setting('statement_timeout') as t, current_setting('timezone') as z",
    );
    const { database, events } = await open({ pool });
    database.listen(
      "x",
      () => undefined,
      () => undefined,
    );
    await events.next("listen.started");
    await database.transaction((tx) => tx.query(text("select 1")));
    await database.close();
    const clients = await Promise.all(Array.from({ length: 5 }, () => pool.connect()));
    for (const client of clients) {
      const { rows } = await client.query(
        "select current_setting('statement_timeout') as t, current_setting('timezone') as z",
      );
      expect(rows).toEqual(before.rows);
      expect((await client.query("select 1::int8 as one, now() as at")).rows).toEqual([
        { one: "1", at: expect.any(Date) },
      ]);
      expect((await client.query("select * from pg_listening_channels()")).rows).toEqual([]);
      client.release();
    }
  });

  it("keeps all its connections for calls if it is small", async () => {
    const { pool } = await lend(2);
    const { database, events } = await open({ pool });
    expect(database.capabilities).toMatchObject({ listen: false, advisoryLocks: false });
    database.listen(
      "x",
      () => undefined,
      () => undefined,
    );
    await events.next("listen.unavailable");
    await Promise.all(Array.from({ length: 20 }, () => database.reserved.query(text("select 1"))));
    expect(pool.totalCount).toBeLessThanOrEqual(2);
  });

  it("serves calls and heartbeats again after it lost a connection", async () => {
    const { pool, url } = await lend(5);
    const { database, events } = await open({ pool });
    await database.reserved.query(text("select 1"));
    const admin = await outsider(url);
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'the application'",
    );
    await events.next("connection.lost");
    expect((await database.reserved.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
    expect((await database.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });

  it("refuses a caller in time as overloaded while the application uses all connections", async () => {
    const { pool } = await lend(3);
    const { database } = await open({ pool, timeouts: { acquireMs: 100 } });
    expect(database.load.pool).toMatchObject({ limit: 3, waiting: 0 });
    const taken = await Promise.all(Array.from({ length: 3 }, () => pool.connect()));
    await expect(database.query(text("select 1"))).rejects.toMatchObject({ code: "overloaded" });
    for (const client of taken) client.release();
    expect((await database.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });
});
