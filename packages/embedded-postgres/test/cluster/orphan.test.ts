import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/index.js";
import { hurried } from "../launcher/hurried.js";
import { Launcher } from "../launcher/launcher.js";
import { query, storedDataDir } from "../launcher/scratch.js";

/** A data directory whose owner was killed while its server kept running. */
async function orphaned(): Promise<{ dataDir: string; pid: number }> {
  const dataDir = await storedDataDir();
  const killed = new Launcher({ dataDir });
  const { pid } = await killed.ready();
  await killed.kill();
  return { dataDir, pid };
}

describe("the server of a killed owner", () => {
  it("restarts the server of a killed owner for other settings", async () => {
    const { dataDir, pid } = await orphaned();
    const next = await startEmbeddedPostgres({ dataDir, settings: { work_mem: "7MB" } });
    expect(next.adopted).toBe(false);
    expect(next.pid).not.toBe(pid);
    expect(await query(next.url, "select current_setting('work_mem') as work_mem, answer from kept")).toEqual([
      { work_mem: "7MB", answer: 42 },
    ]);
    await next.stop();
  });

  it("restarts the server of a killed owner if it does not respond", async () => {
    const { dataDir, pid } = await orphaned();
    process.kill(pid, "SIGSTOP");
    const next = await startEmbeddedPostgres({ dataDir, timer: hurried });
    expect(next.adopted).toBe(false);
    expect(await query(next.url, "select answer from kept")).toEqual([{ answer: 42 }]);
    await next.stop();
  });

  it("adopts the server of a killed owner even if all its connections are in use", async () => {
    const dataDir = await storedDataDir();
    const settings = { max_connections: "5", superuser_reserved_connections: "0", reserved_connections: "0" };
    const killed = new Launcher({ dataDir, settings });
    const { pid, url } = await killed.ready();
    await killed.kill();
    const clients = Array.from({ length: 5 }, () => new Client({ connectionString: url }));
    // Their sessions end with the server, which each client reports as an error.
    await Promise.all(clients.map((client) => client.on("error", () => undefined).connect()));
    const next = await startEmbeddedPostgres({ dataDir, settings });
    expect(next).toMatchObject({ adopted: true, pid });
    await next.stop();
    await Promise.allSettled(clients.map((client) => client.end()));
  });
});

describe("a postmaster.pid without a server", () => {
  const file = (pid: number) => `${pid}\n/x\n1700000000\n5432\n\n127.0.0.1\n  1 2\nready   \n`;

  /** The stored rows, after a start with this file in place. */
  async function rowsAfterStart(content: string): Promise<readonly unknown[]> {
    const dataDir = await storedDataDir();
    await writeFile(join(dataDir, "postgres/postmaster.pid"), content);
    const server = await startEmbeddedPostgres({ dataDir, timer: hurried });
    const rows = await query(server.url, "select answer from kept");
    await server.stop();
    return rows;
  }

  it.each([
    ["names a process that is another program now", file(process.pid)],
    ["names a process that is gone", file(4_194_303)],
    ["is empty", ""],
  ])("a postmaster.pid without a server does not prevent the start when it %s", async (_, content) => {
    expect(await rowsAfterStart(content)).toEqual([{ answer: 42 }]);
  });

  it("a postmaster.pid that names a zombie does not prevent the start, as in a container whose first process reaps none", async () => {
    const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 300"], { stdio: ["ignore", "pipe", "ignore"] });
    const [zombie] = (await once(parent.stdout, "data")) as [Buffer];
    expect(await rowsAfterStart(file(Number(zombie.toString())))).toEqual([{ answer: 42 }]);
    parent.kill();
  });
});
