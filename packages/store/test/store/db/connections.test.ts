import { describe, expect, it } from "vitest";
import { classifyPgError } from "../../../src/db/errors.js";
import { eventually, fileUrl, freshUrl, open, outsider, text } from "./support.js";

const pidOf = text("select pg_backend_pid() as pid");

describe("the pool", () => {
  it("keeps a connection whose statement was refused", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 4 });
    const { rows: before } = await database.query(pidOf);
    await database.query(text("create table kept (id int primary key)"));
    await database.query(text("insert into kept values (1)"));
    const error = await database.query(text("insert into kept values (1)")).catch((refused: unknown) => refused);
    expect(classifyPgError(error)).toBe("unique");
    expect((await database.query(pidOf)).rows).toEqual(before);
  });

  it("replaces a connection that the server ended while it was idle", async () => {
    const url = await fileUrl();
    const { database, events } = await open({ url, poolSize: 4 });
    const admin = await outsider(url);
    const [before] = (await database.query<{ pid: number }>(pidOf)).rows;
    await admin.query("select pg_terminate_backend($1)", [before?.pid]);
    await events.next("connection.lost");
    const [after] = (await database.query<{ pid: number }>(pidOf)).rows;
    expect(after?.pid).not.toBe(before?.pid);
    expect(database.state).toBe("up");
  });

  it("reports a connection lost during a statement as database_unavailable, and serves later statements", async () => {
    const url = await fileUrl();
    const { database } = await open({ url, poolSize: 4 });
    const admin = await outsider(url);
    const sleeping = database.query(text("select pg_sleep(60)")).catch((error: unknown) => error);
    await eventually(async () => {
      const found = await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(60)'",
      );
      return found.rowCount === 1;
    });
    expect(await sleeping).toMatchObject({ code: "database_unavailable" });
    expect((await database.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });

  it("refuses a caller without a free connection in time as overloaded, while heartbeats are still sent", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 4, timeouts: { acquireMs: 20 } });
    let release: () => void = () => undefined;
    const holding = new Promise<void>((resolve) => (release = resolve));
    const holder = database.transaction(async (tx) => {
      await tx.query(text("select 1"));
      await expect(database.query(text("select 1"))).rejects.toMatchObject({ code: "overloaded" });
      expect((await database.reserved.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
      expect((await database.hot.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
      release();
    });
    await holding;
    await holder;
    expect((await database.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });

  it("opens no more connections than its budget, including the dedicated ones", async () => {
    const url = await fileUrl();
    const { database, events } = await open({ url, poolSize: 8, applicationName: "budget" });
    database.listen(
      "x",
      () => undefined,
      () => undefined,
    );
    await events.next("listen.started");
    const busy = Array.from({ length: 50 }, () => [
      database.query(text("select pg_sleep(0.01)")),
      database.hot.query(text("select 1")),
      database.reserved.query(text("select 1")),
    ]).flat();
    await Promise.all(busy);
    const admin = await outsider(url);
    const { rows } = await admin.query(
      "select count(*)::int as n from pg_stat_activity where application_name = 'budget'",
    );
    expect(rows).toEqual([{ n: 8 }]);
  });
});

describe("hot statements", () => {
  it("share dedicated connections, and a failure of one does not affect the others", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 8 });
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        database.hot.query<{ pid: number }>(text(i % 4 === 3 ? "select 1/0 as pid" : pidOf.text)),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(
      Array.from({ length: 40 }, (_, i) => (i % 4 === 3 ? "rejected" : "fulfilled")),
    );
    const pids = results.flatMap((result) =>
      result.status === "fulfilled" ? result.value.rows.map(({ pid }) => pid) : [],
    );
    expect(new Set(pids).size).toBe(2);
  });

  it("are refused as overloaded when too many wait for their results", async () => {
    const { database } = await open({ url: await fileUrl(), poolSize: 4 });
    const results = await Promise.allSettled(Array.from({ length: 1_500 }, () => database.hot.query(text("select 1"))));
    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(500);
    expect(refused[0]).toMatchObject({ reason: { code: "overloaded" } });
    expect((await database.hot.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });

  it("reconnect after the server ended the connection", async () => {
    const url = await fileUrl();
    const { database, events } = await open({ url, poolSize: 4 });
    const admin = await outsider(url);
    const [before] = (await database.hot.query<{ pid: number }>(pidOf)).rows;
    await admin.query("select pg_terminate_backend($1)", [before?.pid]);
    await events.next("connection.lost");
    const [after] = (await database.hot.query<{ pid: number }>(pidOf)).rows;
    expect(after?.pid).not.toBe(before?.pid);
  });
});

describe("the sessions of Carillon", () => {
  it("do not depend on the settings of the role", async () => {
    const url = await freshUrl();
    const admin = await outsider(url);
    const name = new URL(url).pathname.slice(1);
    await admin.query(`alter database ${name} set timezone to 'Asia/Kolkata'`);
    await admin.query(`alter database ${name} set datestyle to 'SQL, DMY'`);
    await admin.query(`alter database ${name} set default_transaction_isolation to 'serializable'`);
    const { database } = await open({ url });
    for (const way of [database, database.hot, database.reserved]) {
      const { rows } = await way.query(
        text(
          "select timestamptz '2026-11-12 08:30:00.123456+00' as at, current_setting('transaction_isolation') as isolation",
        ),
      );
      expect(rows).toEqual([{ at: Date.UTC(2026, 10, 12, 8, 30, 0, 123), isolation: "read committed" }]);
    }
  });
});
