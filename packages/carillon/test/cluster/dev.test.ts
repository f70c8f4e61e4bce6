import { execFile, spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../process/carillon-process.js";
import { processesAt, scratchDir } from "../process/scratch.js";
import { call, createJob, startDev } from "../process/server.js";
import { storedDataDir } from "../process/stored-data-dir.js";

const run = promisify(execFile);
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) {
  console.log("the test of the lines that carillon dev prints is skipped: curl is not installed, and they call it");
}

/** The log at its default level. */
function infos(stderr: string): string[] {
  const entries = stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  return (entries as { level: number; msg: string }[]).filter(({ level }) => level === 30).map(({ msg }) => msg);
}

describe("carillon dev", () => {
  it.skipIf(!hasCurl)(
    "logs little before it is ready, and prints lines that work as printed: a job is created and its succeeded run is seen",
    async () => {
      const dataDir = join(await scratchDir(), "data");
      const { process } = await startDev(dataDir);
      await process.line(/Stop with Ctrl-C/);
      expect(infos(process.stderr)).toEqual([
        expect.stringContaining("making a new PostgreSQL") as string,
        "schema is up to date",
        expect.stringContaining("Server listening at") as string,
      ]);
      const [create = "", look = ""] = process.stdout.match(/^ {2}curl .*$/gm) ?? [];
      const created = JSON.parse((await run("sh", ["-c", create])).stdout);
      expect(created).toMatchObject({ task: "echo", payload: { hello: "world" } });
      await process.line(/"run.succeeded"/);
      const { runs } = JSON.parse((await run("sh", ["-c", look])).stdout);
      expect(runs).toMatchObject([{ job_id: created.id, status: "succeeded", output: { hello: "world" } }]);
      expect(process.stdout).toContain(dataDir);
      expect(process.stdout).toMatch(/PostgreSQL {2}\d+\.\d+, port \d+/);
      expect(await process.stop()).toEqual({ code: 0, signal: null });
      expect(await processesAt(dataDir)).toEqual([]);
    },
  );

  it("carillon dev refuses a data folder that another node uses, and does not disturb that node", async () => {
    const dataDir = await storedDataDir();
    const first = await startDev(dataDir);
    const second = new CarillonProcess(["dev", "--data-dir", dataDir, "--port", "0"]);
    expect(await second.ended).toEqual({ code: 1, signal: null });
    expect(second.stderr).toContain(dataDir);
    expect(second.stderr).toMatch(/in use|used by|runs/i);
    expect(second.stderr).not.toContain("fault of carillon");
    expect((await call(`${first.url}/readyz`)).status).toBe(200);
    await first.process.stop();
  });

  it("carillon dev names the process that has the port and takes the next one, and carillon server refuses", async () => {
    const dataDir = await storedDataDir();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const dev = await startDev(dataDir, ["--port", String(port)]);
    expect(Number(new URL(dev.url).port)).toBeGreaterThan(port);
    const owner = process.platform === "linux" ? ` by .*\\(pid ${process.pid}\\)` : "";
    expect(dev.process.stderr).toMatch(new RegExp(`port ${port} is in use${owner}; trying ${port + 1}`));
    await dev.process.stop();

    const server = new CarillonProcess(["server", "start", "--data-dir", dataDir, "--port", String(port)]);
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expect(server.stderr).toMatch(
      new RegExp(`carillon: Port ${port} is in use${owner}: stop that process, or choose another port with --port`),
    );
    other.close();
  });

  it("carillon dev keeps jobs over a restart, and deletes them with --reset", async () => {
    const dataDir = await storedDataDir();
    const first = await startDev(dataDir);
    const id = await createJob(first.url, { task: "echo", schedule: { cron: "@yearly" } });
    await first.process.stop();

    const second = await startDev(dataDir);
    expect((await call(`${second.url}/v1/jobs/${id}`)).status).toBe(200);
    await second.process.stop();

    const third = await startDev(dataDir, ["--reset"]);
    expect((await call(`${third.url}/v1/jobs/${id}`)).status).toBe(404);
    await third.process.stop();
  });

  it("carillon dev --ephemeral leaves no files", async () => {
    const temporary = await scratchDir();
    const { process, url } = await startDev("ignored", ["--ephemeral"], { env: { TMPDIR: temporary } });
    expect((await call(`${url}/readyz`)).status).toBe(200);
    expect(await readdir(temporary)).toHaveLength(1);
    await process.stop();
    expect(await readdir(temporary)).toEqual([]);
  });
});
