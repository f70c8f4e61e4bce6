import { describe, expect, it, onTestFinished } from "vitest";
import { serverWarnings } from "../../../src/db/server-warnings.js";
import { fakeServer, greetingAnswer } from "./fake-server.js";
import { fileUrl, freshUrl, kill, open, outsider, proxyTo, realTime, text } from "./support.js";
import { waitForDatabase } from "../../../src/db/open-database.js";

const options = { schema: "carillon", ...realTime };

describe("waitForDatabase", () => {
  it("waits for a database that cannot be reached yet, and reports the reason", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    await kill(proxy);
    const messages: string[] = [];
    const database = await waitForDatabase(
      { ...options, url: proxy.through(url) },
      {
        deadlineMs: 30_000,
        onWait: (message) => {
          messages.push(message);
          if (messages.length === 2) void proxy.resume();
        },
      },
    );
    onTestFinished(() => database.close());
    expect(messages[0]).toContain(`127.0.0.1:${proxy.port}`);
    expect((await database.query(text("select 1 as one"))).rows).toEqual([{ one: 1 }]);
  });

  it("gives up at its deadline with database_unavailable", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    await kill(proxy);
    await expect(waitForDatabase({ ...options, url: proxy.through(url) }, { deadlineMs: 100 })).rejects.toMatchObject({
      code: "database_unavailable",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });

  it("does not wait after an error that waiting cannot repair", async () => {
    const url = await fileUrl();
    const old = await fakeServer(() => greetingAnswer({ versionNum: 90_600, version: "9.6" }));
    const never = { deadlineMs: Number.POSITIVE_INFINITY };
    await expect(waitForDatabase({ ...options, url: `${url}_missing` }, never)).rejects.toMatchObject({
      code: "database_refused",
    });
    await expect(waitForDatabase({ ...options, url: `postgres://u@127.0.0.1:${old}/x` }, never)).rejects.toMatchObject({
      code: "database_too_old",
    });
  });

  it("ends early when its signal fires", async () => {
    const url = await fileUrl();
    const proxy = await proxyTo(url);
    await kill(proxy);
    const stop = new AbortController();
    const waiting = waitForDatabase(
      { ...options, url: proxy.through(url) },
      { deadlineMs: Number.POSITIVE_INFINITY, signal: stop.signal, onWait: () => stop.abort() },
    );
    await expect(waiting).rejects.toMatchObject({ code: "database_unavailable" });
  });
});

describe("the database's clock", () => {
  it("equals the server's clock within its uncertainty", async () => {
    const { database } = await open({ url: await fileUrl() });
    await database.clock.tick();
    const before = database.clock.now();
    const { rows } = await database.query<{ at: number }>(text("select clock_timestamp() as at"));
    const after = database.clock.now();
    const slackMs = database.clock.uncertaintyMs + 1;
    expect(rows[0]?.at).toBeGreaterThanOrEqual(before - slackMs);
    expect(rows[0]?.at).toBeLessThanOrEqual(after + slackMs);
  });
});

describe("serverWarnings", () => {
  it("names settings that weaken a promise, and a server with too few connections", async () => {
    const url = await freshUrl();
    const admin = await outsider(url);
    await admin.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit to off`);
    const { database } = await open({ url });
    const warnings = await serverWarnings(database, 100_000);
    expect(warnings.map(({ setting }) => setting)).toEqual(
      expect.arrayContaining(["synchronous_commit", "max_connections"]),
    );
  });
});
