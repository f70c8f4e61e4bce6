import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/db/database.js";
import { eventually, fileUrl, kill, open, outsider, proxyTo, text } from "./support.js";

/** Collects payloads; `until` resolves when as many have come. */
class Inbox {
  readonly payloads: string[] = [];
  reconnects = 0;
  #look: () => void = () => undefined;

  readonly onNotify = (payload: string): void => {
    this.payloads.push(payload);
    this.#look();
  };

  readonly onReconnect = (): void => {
    this.reconnects++;
    this.#look();
  };

  until(ready: (inbox: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        if (ready(this)) resolve();
      };
      this.#look();
    });
  }
}

const listen = (database: Database, channel: string): { inbox: Inbox; stop: () => Promise<void> } => {
  const inbox = new Inbox();
  const { stop } = database.listen(channel, inbox.onNotify, inbox.onReconnect);
  return { inbox, stop };
};

describe("listen", () => {
  it("hears what was notified on its channel, and nothing else", async () => {
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

  it("lets several hear one channel, and one leave without deafening the others", async () => {
    const { database, events } = await open({ url: await fileUrl() });
    const [one, two] = [listen(database, "x"), listen(database, "x")];
    await events.next("listen.started", 2);
    await one.stop();
    database.notify("x", "a");
    await two.inbox.until(({ payloads }) => payloads.includes("a"));
    expect(one.inbox.payloads).toEqual([]);
  });

  it("comes back after a cut, and then tells so that its caller can look once", async () => {
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

  it("ends its connection when the last one stops", async () => {
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
  it("keeps an advisory lock, loses it with the connection and takes it again", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    const { database } = await open({ url: proxy.through(url) });
    const admin = await outsider(url);
    const log: string[] = [];
    let look: () => void = () => undefined;
    const until = (wanted: readonly string[]): Promise<void> =>
      new Promise((resolve) => {
        look = () => {
          if (log.length >= wanted.length) resolve();
        };
        look();
      });
    const tell = (word: string): void => {
      log.push(word);
      look();
    };
    const held = async (): Promise<boolean> => {
      const { rows } = await admin.query("select pg_try_advisory_lock(7) as free, pg_advisory_unlock(7)");
      return rows[0].free === false;
    };
    const { stop } = database.hold({
      setUp: async (session) => void (await session.query(text("select pg_advisory_lock(7)"))),
      takeDown: async (session) => void (await session?.query(text("select pg_advisory_unlock(7)"))),
      onHeld: (again) => tell(again ? "again" : "held"),
      onLost: () => tell("lost"),
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
