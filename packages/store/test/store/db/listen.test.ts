import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/db/database.js";
import { eventually, fileUrl, kill, open, outsider, proxyTo, text } from "./support.js";

/** Collects payloads; `until` resolves when the condition holds. */
class Inbox {
  readonly payloads: string[] = [];
  reconnects = 0;
  #check: () => void = () => undefined;

  readonly onNotify = (payload: string): void => {
    this.payloads.push(payload);
    this.#check();
  };

  readonly onReconnect = (): void => {
    this.reconnects++;
    this.#check();
  };

  until(ready: (inbox: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#check = () => {
        if (ready(this)) resolve();
      };
      this.#check();
    });
  }
}

const listen = (database: Database, channel: string): { inbox: Inbox; stop: () => Promise<void> } => {
  const inbox = new Inbox();
  const { stop } = database.listen(channel, inbox.onNotify, inbox.onReconnect);
  return { inbox, stop };
};

describe("listen", () => {
  it("receives the notifications of its channel and of no other", async () => {
    const { database, events } = await open({ url: await fileUrl() });
    const [one, two] = [listen(database, 'Odd "name"'), listen(database, "other")];
    await events.next("listen.started", 2);
    database.notify("other", "no");
    database.notify('Odd "name"', "yes");
    await Promise.all([
      one.inbox.until(({ payloads }) => payloads.length > 0),
      two.inbox.until(({ payloads }) => payloads.length > 0),
    ]);
    expect([one.inbox.payloads, two.inbox.payloads]).toEqual([["yes"], ["no"]]);
  });

  it("keeps the other listeners of a channel when one stops", async () => {
    const { database, events } = await open({ url: await fileUrl() });
    const [one, two] = [listen(database, "x"), listen(database, "x")];
    await events.next("listen.started", 2);
    await one.stop();
    database.notify("x", "a");
    await two.inbox.until(({ payloads }) => payloads.includes("a"));
    expect(one.inbox.payloads).toEqual([]);
  });

  it("is restored after a cut, and notifies its caller, which may have missed notifications", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database, events } = await open({ url: proxy.through(url) });
    const { inbox } = listen(database, "x");
    await events.next("listen.started");
    expect(inbox.reconnects).toBe(0);
    await kill(proxy);
    await events.next("connection.lost");
    await proxy.resume();
    await inbox.until(({ reconnects }) => reconnects === 1);
    await database.waitUntilUp();
    const admin = await outsider(url);
    await admin.query("select pg_notify('x', 'again')");
    await inbox.until(({ payloads }) => payloads.includes("again"));
    expect(events.list).toContainEqual({ type: "listen.started", channel: "x", again: true });
  });

  it("ends its connection when the last listener stops", async () => {
    const url = await fileUrl();
    const { database, events } = await open({ url, applicationName: "listener" });
    const { stop } = listen(database, "x");
    await events.next("listen.started");
    await stop();
    const admin = await outsider(url);
    await eventually(async () => {
      const { rowCount } = await admin.query(
        "select from pg_stat_activity where application_name = 'listener' and query like 'listen%'",
      );
      return rowCount === 0;
    });
    const again = listen(database, "x");
    await events.next("listen.started", 2);
    database.notify("x", "b");
    await again.inbox.until(({ payloads }) => payloads.length > 0);
    expect(again.inbox.payloads).toEqual(["b"]);
  });
});

describe("hold", () => {
  it("keeps an advisory lock, loses it with the connection and acquires it again", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database } = await open({ url: proxy.through(url) });
    const admin = await outsider(url);
    const log: string[] = [];
    let check: () => void = () => undefined;
    const until = (wanted: readonly string[]): Promise<void> =>
      new Promise((resolve) => {
        check = () => {
          if (log.length >= wanted.length) resolve();
        };
        check();
      });
    const record = (word: string): void => {
      log.push(word);
      check();
    };
    const held = async (): Promise<boolean> => {
      const { rows } = await admin.query("select pg_try_advisory_lock(7) as free, pg_advisory_unlock(7)");
      return rows[0].free === false;
    };
    const { stop } = database.hold({
      setUp: async (session) => void (await session.query(text("select pg_advisory_lock(7)"))),
      takeDown: async (session) => void (await session?.query(text("select pg_advisory_unlock(7)"))),
      onHeld: (again) => record(again ? "again" : "held"),
      onLost: () => record("lost"),
    });
    await until(["held"]);
    expect(await held()).toBe(true);
    proxy.cut();
    await until(["held", "lost", "again"]);
    expect(log).toEqual(["held", "lost", "again"]);
    expect(await held()).toBe(true);
    await stop();
    await eventually(async () => !(await held()));
  });
});
