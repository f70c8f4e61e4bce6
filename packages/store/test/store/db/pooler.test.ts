import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { migrate } from "../../../src/migrations/migrate.js";
import { toMigration } from "../../../src/migrations/migration.js";
import { collectSources, makeStatements } from "../../../src/sql/statements.js";
import { eventually, fileUrl, open, proxyTo, text } from "./support.js";

const add = makeStatements(
  collectSources(
    new Map([["t.sql", "-- name: t.add\n-- purpose: adds\n-- params: $1 int\nselect $1::int + 1 as sum"]]),
  ),
  "carillon",
).get("t.add");

/** Announces another process id at connect than that of the backend, as every pooler does. */
function withForeignKey(chunk: Buffer): Buffer {
  const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at === -1) return chunk;
  const changed = Buffer.from(chunk);
  changed.writeInt32BE(1, at + 5);
  return changed;
}

async function poolerLike(url: string): Promise<string> {
  const proxy = await proxyTo(url, { filter: (chunk, from) => (from === "server" ? withForeignKey(chunk) : chunk) });
  return proxy.through(url);
}

describe("behind a pooler that announces its own process ids", () => {
  it("no feature of a session is used, and no session setting is made", async () => {
    const { database, events } = await open({ url: await poolerLike(await fileUrl()), poolSize: 4 });
    expect(database.server.direct).toBe(false);
    expect(database.capabilities).toEqual({ listen: false, advisoryLocks: false, preparedStatements: false });
    database.listen(
      "x",
      () => undefined,
      () => undefined,
    );
    await events.next("listen.unavailable");
    expect(() => database.hold({ setUp: async () => {}, takeDown: async () => {}, onHeld: () => {} })).toThrow(
      /direct/,
    );
    for (const way of [database, database.hot, database.reserved]) {
      expect((await way.query(add, [1])).rows).toEqual([{ sum: 2 }]);
      expect((await way.query(text("select name from pg_prepared_statements"))).rows).toEqual([]);
      expect((await way.query(text("select current_setting('statement_timeout') as t"))).rows).toEqual([{ t: "0" }]);
    }
  });

  it("a transaction still has its time limits", async () => {
    const { database } = await open({ url: await poolerLike(await fileUrl()), poolSize: 4 });
    const slow = database.transaction((tx) => tx.query(text("select pg_sleep(60)")), { timeoutMs: 50 });
    await expect(slow).rejects.toMatchObject({ code: "database_timeout" });
    expect((await database.query(text("select current_setting('statement_timeout') as t"))).rows).toEqual([{ t: "0" }]);
  });

  it("LISTEN and advisory locks use the direct URL, and other statements do not", async () => {
    const url = await fileUrl();
    const { database, events } = await open({ url: await poolerLike(url), directUrl: url, poolSize: 4 });
    expect(database.capabilities).toEqual({ listen: true, advisoryLocks: true, preparedStatements: false });
    const received = new Promise<string>((resolve) => void database.listen("x", resolve, () => undefined));
    await events.next("listen.started");
    database.notify("x", "hello");
    expect(await received).toBe("hello");
  });

  it("a direct URL that leads to a pooler too does not count as direct", async () => {
    const url = await poolerLike(await fileUrl());
    const { database } = await open({ url, directUrl: url, poolSize: 4 });
    expect(database.capabilities).toMatchObject({ listen: false, advisoryLocks: false });
  });

  it("migrations run under transaction locks, and one that needs a session is refused without a direct URL", async () => {
    const url = await fileUrl();
    const pooled = await poolerLike(url);
    const one = toMigration(1, "one", "create table carillon.one (id int)");
    const two = toMigration(2, "two", "-- no-transaction\ncreate index concurrently one_id on carillon.one (id)");
    const schema = "pooled";
    const { database } = await open({ url: pooled, schema, poolSize: 4 });
    expect((await migrate(database, { files: [one] })).applied).toEqual(["0001_one"]);
    await expect(migrate(database, { files: [one, two] })).rejects.toMatchObject({ code: "direct_url_needed" });
    const { database: direct } = await open({ url: pooled, directUrl: url, schema, poolSize: 4 });
    expect((await migrate(direct, { files: [one, two] })).applied).toEqual(["0002_two"]);
  });
});

const script = fileURLToPath(new URL("../../../../../scripts/servers/pgbouncer.sh", import.meta.url));
const isInstalled = spawnSync("sh", ["-c", 'PATH="$PATH:/usr/sbin" command -v pgbouncer']).status === 0;
if (!isInstalled) {
  console.log(
    `tests behind PgBouncer are skipped: it is not installed (as root: scripts/servers/pgbouncer.sh install)`,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** PgBouncer in transaction mode with two server connections; its URL. */
async function startPgBouncer(url: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url);
  const listenPort = await freePort();
  const child = spawn(script, ["run", String(listenPort)], {
    stdio: "ignore",
    env: {
      PATH: process.env["PATH"],
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: pathname.slice(1),
    },
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  await eventually(async () => {
    const socket = connect(listenPort, "127.0.0.1");
    const answers = once(socket, "connect").then(
      () => true,
      () => false,
    );
    const isUp = await answers;
    socket.destroy();
    return isUp;
  });
  return `postgres://anyone@127.0.0.1:${listenPort}/anything`;
}

describe.skipIf(!isInstalled)("behind PgBouncer in transaction mode", () => {
  it("many clients share its two connections, with and without transactions", async () => {
    const { database } = await open({ url: await startPgBouncer(await fileUrl()), poolSize: 10 });
    expect(database.capabilities).toEqual({ listen: false, advisoryLocks: false, preparedStatements: false });
    const work = Array.from({ length: 40 }, (_, n) => [
      database.query(add, [n]),
      database.hot.query(add, [n]),
      database.transaction((tx) => tx.query(add, [n])),
    ]).flat();
    const sums = (await Promise.all(work)).map(({ rows }) => rows);
    expect(sums).toEqual(
      Array.from({ length: 40 }, (_, n) => Array.from({ length: 3 }, () => [{ sum: n + 1 }])).flat(),
    );
  });

  it("statements whose names its version cannot keep succeed at the second try", async () => {
    const { database } = await open({ url: await startPgBouncer(await fileUrl()), poolSize: 10, statementNames: "on" });
    const work = Array.from({ length: 60 }, (_, n) => [
      database.query(add, [n]),
      database.hot.query(add, [n]),
      database.transaction((tx) => tx.query(add, [n]), { retries: 20 }),
    ]).flat();
    const sums = (await Promise.all(work)).map(({ rows }) => rows);
    expect(sums).toEqual(
      Array.from({ length: 60 }, (_, n) => Array.from({ length: 3 }, () => [{ sum: n + 1 }])).flat(),
    );
  });

  it("several nodes migrate at once, and each migration runs once", async () => {
    const pooled = await startPgBouncer(await fileUrl());
    const files = [1, 2, 3].map((n) => toMigration(n, `step_${n}`, `create table carillon.t${n} (id int)`));
    const nodes = await Promise.all(
      Array.from({ length: 4 }, () => open({ url: pooled, schema: "bounced", poolSize: 4 })),
    );
    const reports = await Promise.all(nodes.map(({ database }) => migrate(database, { files })));
    expect(reports.flatMap(({ applied }) => applied).sort()).toEqual(["0001_step_1", "0002_step_2", "0003_step_3"]);
  });
});
