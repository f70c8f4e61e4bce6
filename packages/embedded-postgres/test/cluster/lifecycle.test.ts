import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { hurried } from "../launcher/hurried.js";
import { Launcher } from "../launcher/launcher.js";
import { processesAt, query, scratchDir, storedDataDir } from "../launcher/scratch.js";

describe("an embedded PostgreSQL", () => {
  it("makes a durable database at the first start and finds its rows, port and password at the second", async () => {
    const dataDir = join(await scratchDir(), "new/data");
    const first = await startEmbeddedPostgres({ dataDir });
    expect(first).toMatchObject({ adopted: false, version: expect.stringMatching(/^\d+\.\d+$/) as string });
    const settings =
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes')";
    expect(await query(first.url, settings)).toEqual([
      { name: "fsync", setting: "on" },
      { name: "full_page_writes", setting: "on" },
      { name: "synchronous_commit", setting: "on" },
    ]);
    await query(first.url, "create table kept as select 42 as answer");
    await first.stop();
    expect(await processesAt(dataDir)).toEqual([]);
    const second = await startEmbeddedPostgres({ dataDir });
    expect(second.url).toBe(first.url);
    expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await second.stop();
  });

  it("listens on loopback only, asks for the password, and keeps directory, password and log private and out of git", async () => {
    const dataDir = join(await scratchDir(), "data");
    const server = await startEmbeddedPostgres({ dataDir });
    const wrong = server.url.replace(/:[^:@]+@/, ":wrong@");
    await expect(query(wrong, "select 1")).rejects.toMatchObject({ code: "28P01" });
    const listening =
      "select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as unix";
    expect(await query(server.url, listening)).toEqual([{ tcp: "127.0.0.1", unix: "" }]);
    const others = async (name: string) => (await stat(join(dataDir, name))).mode & 0o067;
    expect(await Promise.all([".", "postgres", "password", "postgres.log", "owner"].map(others))).toEqual([
      0, 0, 0, 0, 0,
    ]);
    expect(await readFile(join(dataDir, ".gitignore"), "utf8")).toBe("*\n");
    await server.stop();
  });

  it("refuses a second start while the first runs, from another process or the same, and names the owner", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    const second = await new Launcher({ dataDir }).until("failed", "ready");
    expect(second.code).toBe("embedded_data_dir_in_use");
    expect(second.message).toContain(`process ${process.pid}`);
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({ code: "embedded_data_dir_in_use" });
    expect(await query(server.url, "select 1 as one")).toEqual([{ one: 1 }]);
    await server.stop();
  });

  it("gives the directory of a dead owner to exactly one of several concurrent starts", async () => {
    const dataDir = await storedDataDir();
    const dead = new Launcher({ dataDir });
    await dead.ready();
    await dead.kill();
    const racers = Array.from({ length: 5 }, () => new Launcher({ dataDir }));
    const results = await Promise.all(racers.map((racer) => racer.until("ready", "failed")));
    expect(results.filter(({ event }) => event === "ready")).toHaveLength(1);
    expect(results.flatMap(({ code }) => code ?? [])).toEqual(
      Array.from({ length: 4 }, () => "embedded_data_dir_in_use"),
    );
    await racers[results.findIndex(({ event }) => event === "ready")]?.stop();
  });

  it("the server keeps running when SIGINT goes to the process group of the launcher, so that the node can drain first", async () => {
    const launcher = new Launcher({ dataDir: await storedDataDir() });
    const { url } = await launcher.ready();
    launcher.interruptGroup();
    await launcher.until("interrupted");
    expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
    await launcher.stop();
  });

  it("stop is idempotent, also after PostgreSQL ended by itself", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    await Promise.all([server.stop(), server.stop("immediate"), server.stop()]);
    const again = await startEmbeddedPostgres({ dataDir });
    process.kill(again.pid, "SIGQUIT");
    await again.exited;
    await again.stop();
    const last = await startEmbeddedPostgres({ dataDir });
    expect(await query(last.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await last.stop();
  });

  it("ends a server that ignores SIGINT and SIGQUIT, and starts again on its data", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir, timer: hurried });
    process.kill(server.pid, "SIGSTOP");
    await server.stop();
    const next = await startEmbeddedPostgres({ dataDir });
    expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  it("waits for the sessions of a killed postmaster", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    process.kill(server.pid, "SIGKILL");
    await server.exited;
    await server.stop();
    const next = await startEmbeddedPostgres({ dataDir });
    expect(next.adopted).toBe(false);
    await next.stop();
  });

  it.each(["initdb-running", "server-spawned", "ready"] as const)(
    "aborts the start at %s by the signal",
    async (moment) => {
      const dataDir = join(await scratchDir(), "data");
      const giveUp = new AbortController();
      const probes = { [moment]: () => giveUp.abort(new Error("enough")) };
      await expect(startEmbeddedPostgres({ dataDir, probes, signal: giveUp.signal })).rejects.toThrow("enough");
      expect(await processesAt(dataDir)).toEqual([]);
      await (await startEmbeddedPostgres({ dataDir })).stop();
    },
  );

  it("uses another port when the remembered one is in use, and remembers it", async () => {
    const dataDir = await storedDataDir();
    const first = await startEmbeddedPostgres({ dataDir });
    await first.stop();
    const squatter = createServer().listen(first.port, "127.0.0.1");
    await once(squatter, "listening");
    const second = await startEmbeddedPostgres({ dataDir });
    expect(second.port).not.toBe(first.port);
    await second.stop();
    squatter.close();
    const third = await startEmbeddedPostgres({ dataDir });
    expect(third.port).toBe(second.port);
    await third.stop();
  });

  it("uses another port when the chosen one is bound before the start", async () => {
    const dataDir = await storedDataDir();
    const first = await startEmbeddedPostgres({ dataDir });
    await first.stop();
    // The server itself finds the port in use: the other program binds it after the launcher has checked.
    const squatter = createServer();
    const squat = async () => {
      if (squatter.listening) return;
      squatter.listen(first.port, "127.0.0.1");
      await once(squatter, "listening");
    };
    const server = await startEmbeddedPostgres({ dataDir, probes: { "port-chosen": squat } });
    expect(server.port).not.toBe(first.port);
    await server.stop();
    squatter.close();
  });

  it("keeps the log of PostgreSQL within its bound", async () => {
    const dataDir = await storedDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    const path = join(dataDir, "postgres.log");
    await writeFile(path, "x".repeat(9 * 1024 * 1024), { flag: "a" });
    await expect.poll(async () => (await stat(path)).size).toBeLessThan(8 * 1024 * 1024);
    expect((await readFile(`${path}.1`, "utf8")).length).toBeGreaterThan(8 * 1024 * 1024);
    await server.stop();
  });
});
