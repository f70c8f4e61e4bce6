import { describe, expect, it } from "vitest";
import { fakeServer, greetingAnswer } from "./fake-server.js";
import { fileUrl, freshUrl, kill, open, outsider, proxyTo, text } from "./support.js";

const hostOf = (url: string): string => new URL(url).host;
const withHosts = (url: string, ...hosts: readonly string[]): string =>
  url.replace(`@${hostOf(url)}`, `@${hosts.join(",")}`);
const select = text("select 1 as one");

describe("a URL of several hosts", () => {
  it("leads to the host that takes writes, past a dead one and a standby", async () => {
    const url = await fileUrl();
    const dead = await proxyTo(url);
    await kill(dead);
    const standby = await fakeServer(() => greetingAnswer({ standby: true }));
    const { database, events } = await open({
      url: withHosts(url, `127.0.0.1:${dead.port}`, `127.0.0.1:${standby}`, hostOf(url)),
    });
    for (const way of [database, database.hot, database.reserved]) {
      expect((await way.query(select)).rows).toEqual([{ one: 1 }]);
    }
    expect(events.list).toContainEqual({ type: "connection.opened", role: "reserved", host: hostOf(url) });
  });

  it("leads to another host when the first one dies", async () => {
    const url = await fileUrl();
    const [a, b] = [await proxyTo(url), await proxyTo(url)];
    const { database, events } = await open({ url: withHosts(url, `127.0.0.1:${a.port}`, `127.0.0.1:${b.port}`) });
    await database.query(select);
    await kill(a);
    await database.query(select).catch(() => undefined);
    await events.next("connection.opened", 2);
    await database.waitUntilUp();
    expect((await database.query(select)).rows).toEqual([{ one: 1 }]);
    expect(events.list.at(-1)).toMatchObject({ host: `127.0.0.1:${b.port}` });
  });

  it("leaves a primary that became a standby, although its connections stay open", async () => {
    const url = await fileUrl();
    let standby = false;
    const old = await fakeServer((sql) =>
      standby && sql.startsWith("update") ? { sqlState: "25006" } : greetingAnswer({ standby }),
    );
    const { database, events } = await open({ url: withHosts(url, `127.0.0.1:${old}`, hostOf(url)) });
    await database.query(text("update something"));
    standby = true;
    await expect(database.query(text("update something"))).rejects.toMatchObject({ code: "database_unavailable" });
    while (!events.list.some((event) => event.type === "connection.opened" && event.host === hostOf(url))) {
      await events.next("connection.opened", events.list.filter(({ type }) => type === "connection.opened").length + 1);
    }
    await database.waitUntilUp();
    expect((await database.query(text("select version() like 'PostgreSQL%' as real"))).rows).toEqual([{ real: true }]);
  });

  it("fails with every host and its error when none can be used", async () => {
    const url = await fileUrl();
    const dead = await proxyTo(url);
    await kill(dead);
    const standby = await fakeServer(() => greetingAnswer({ standby: true }));
    await expect(open({ url: withHosts(url, `127.0.0.1:${dead.port}`, `127.0.0.1:${standby}`) })).rejects.toMatchObject(
      {
        code: "database_unavailable",
        message: expect.stringMatching(/ECONNREFUSED.*standby/s),
      },
    );
  });
});

describe("a server", () => {
  it("older than PostgreSQL 14 is refused, with both versions and the remedy", async () => {
    const port = await fakeServer(() => greetingAnswer({ versionNum: 130_014, version: "13.14" }));
    await expect(open({ url: `postgres://u:p@127.0.0.1:${port}/x` })).rejects.toMatchObject({
      code: "database_too_old",
      message: expect.stringMatching(/13\.14.*14 or newer.*Upgrade/s),
    });
  });

  it("whose transactions are read-only is refused as not available", async () => {
    const url = await freshUrl();
    const admin = await outsider(url);
    await admin.query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only to on`);
    await expect(open({ url })).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringContaining("default_transaction_read_only"),
    });
  });

  it("without the database refuses the connection, which is reported as database_refused", async () => {
    const url = await fileUrl();
    await expect(open({ url: `${url}_missing` })).rejects.toMatchObject({ code: "database_refused" });
  });
});
