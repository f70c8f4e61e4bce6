import { ManualClock } from "@carillon/core";
import { describe, expect, it } from "vitest";
import { pass } from "../../unit/db/passing-time.js";
import { fileUrl, kill, open, proxyTo, text } from "./support.js";

const select = text("select 1 as one");

describe("a lost database", () => {
  it("fails calls at once while it is down, and serves again when it is back", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database, events } = await open({ url: proxy.through(url) });
    await Promise.all([database.query(select), database.hot.query(select), database.reserved.query(select)]);
    await kill(proxy);
    await expect(database.query(select)).rejects.toMatchObject({ code: "database_unavailable" });
    await events.next("database.down");
    expect(database.state).toBe("down");
    for (const call of [
      () => database.query(select),
      () => database.hot.query(select),
      () => database.reserved.query(select),
      () => database.transaction(async () => undefined),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: "database_unavailable" });
    }
    await proxy.resume();
    await database.waitUntilUp();
    expect(database.state).toBe("up");
    for (const way of [database, database.hot, database.reserved]) {
      expect((await way.query(select)).rows).toEqual([{ one: 1 }]);
    }
    expect(await events.next("database.up")).toMatchObject({ downMs: expect.any(Number) });
  });

  it("fails running statements when every connection is cut, and stays up if it can be reached", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database, events } = await open({ url: proxy.through(url) });
    const underWay = Promise.allSettled([
      database.query(text("select pg_sleep(60)")),
      database.hot.query(text("select pg_sleep(60)")),
      database.transaction((tx) => tx.query(text("select pg_sleep(60)"))),
    ]);
    await Promise.all([database.hot.query(select).catch(() => undefined), events.next("connection.opened", 2)]);
    proxy.cut();
    for (const result of await underWay) {
      expect(result).toMatchObject({ status: "rejected", reason: { code: "database_unavailable" } });
    }
    expect((await database.query(select)).rows).toEqual([{ one: 1 }]);
    expect(events.list.some(({ type }) => type === "database.down")).toBe(false);
  });

  it("is noticed although the network drops all packets", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const time = new ManualClock();
    const { database } = await open({
      url: proxy.through(url),
      clock: time,
      timers: time,
    });
    const swallowed = proxy.blackHole();
    const lost = database.reserved.query(select).catch((error: unknown) => error);
    await swallowed;
    await pass(time, 60_000);
    expect(await lost).toMatchObject({ code: "database_unavailable" });
    await proxy.close(); // what already tries to connect again gets its answer
  });
});

describe("close", () => {
  it("is idempotent, and later calls are refused", async () => {
    const { database } = await open({ url: await fileUrl() });
    await Promise.all([database.close(), database.close()]);
    await database.close();
    await expect(database.query(select)).rejects.toMatchObject({ code: "shutting_down" });
    await expect(database.hot.query(select)).rejects.toMatchObject({ code: "shutting_down" });
  });

  it("returns at its limit although a statement hangs, and leaves no timer", async () => {
    const time = new ManualClock();
    const { database } = await open({ url: await fileUrl(), clock: time, timers: time });
    const hanging = [database, database.hot].map((way) =>
      way.query(text("select pg_sleep(60)")).catch((error: unknown) => error),
    );
    const closing = database.close(1_000);
    await pass(time, 1_000);
    await closing;
    for (const result of await Promise.all(hanging)) expect(result).toMatchObject({ code: "database_unavailable" });
    expect(time.pending).toBe(0);
  });

  it("does not wait for a database that is down", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database, events } = await open({ url: proxy.through(url) });
    await kill(proxy);
    await database.query(select).catch(() => undefined);
    await events.next("database.down");
    await database.close();
    await database.waitUntilUp();
    await expect(database.query(select)).rejects.toMatchObject({ code: "shutting_down" });
  });
});
