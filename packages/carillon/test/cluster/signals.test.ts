import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../process/carillon-process.js";
import { processesAt, scratchDir } from "../process/scratch.js";
import { createJob, jobStatus, startDev } from "../process/server.js";
import { storedDataDir } from "../process/stored-data-dir.js";

const sleeper = (duration: string) => ({ task: "sleep", payload: { for: duration } });

/** Creates runs and waits until all of them are on a worker. */
async function startRuns(node: Awaited<ReturnType<typeof startDev>>, jobs: readonly object[]): Promise<string[]> {
  const ids = await Promise.all(jobs.map((job) => createJob(node.url, job)));
  while (node.process.count(/"run.started"/) < jobs.length) await node.process.next();
  return ids;
}

describe("signals", () => {
  it("Ctrl-C for the whole process group loses no run and leaves no process, also if it arrives twice", async () => {
    const dataDir = await storedDataDir();
    const node = await startDev(dataDir, ["--worker-slots", "4", "--shutdown-grace-period", "2s"]);
    const short = await startRuns(node, [sleeper("1s"), sleeper("1s")]);
    const long = [await createJob(node.url, sleeper("1h")), await createJob(node.url, sleeper("1h"))];
    const waiting = await createJob(node.url, sleeper("1h"));
    while (node.process.count(/"run.started"/) < 4) await node.process.next();

    node.process.killGroup("SIGINT");
    node.process.killGroup("SIGINT");
    expect(await node.process.ended).toEqual({ code: 0, signal: null });
    expect(node.process.stderr).toMatch(/"givenBack":2/);
    expect(await processesAt(dataDir)).toEqual([]);

    const again = await startDev(dataDir, ["--worker-slots", "4", "--shutdown-grace-period", "0s"]);
    while (again.process.count(/"run.started"/) < 3) await again.process.next();
    for (const id of short) expect(await jobStatus(again.url, id)).toBe("completed");
    for (const id of [...long, waiting]) expect(await jobStatus(again.url, id)).toBe("running");
    await again.process.stop();
  });

  it("Ctrl-C while the database is created leaves no process", async () => {
    const dataDir = join(await scratchDir(), "data");
    const process = new CarillonProcess(["dev", "--data-dir", dataDir, "--port", "0"]);
    await process.line(/making a new PostgreSQL/);
    process.killGroup("SIGINT");
    expect(await process.ended).toEqual({ code: 0, signal: null });
    expect(process.stdout).toBe("");
    expect(await processesAt(dataDir)).toEqual([]);
  });

  it("a second signal ends a node immediately, and its PostgreSQL too", async () => {
    const dataDir = await storedDataDir();
    const node = await startDev(dataDir, ["--shutdown-grace-period", "1h"]);
    await startRuns(node, [sleeper("1h")]);
    const postmasters = await processesAt(dataDir);
    node.process.kill("SIGINT");
    await node.process.line(/draining/);
    // A second signal within half a second is treated as a copy of the first.
    const again = setInterval(() => node.process.kill("SIGINT"), 100);
    expect(await node.process.ended).toEqual({ code: 130, signal: null });
    clearInterval(again);
    expect(postmasters.length).toBeGreaterThan(1);
    while ((await processesAt(dataDir)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it("an unhandled error ends a node with 1 and a message", async () => {
    const dataDir = await storedDataDir();
    const code = "process.on('SIGUSR2', () => void Promise.reject(new Error('planted')))";
    const preload = `data:text/javascript,${encodeURIComponent(code).replaceAll("'", "%27")}`;
    const node = await startDev(dataDir, [], { env: { NODE_OPTIONS: `--import=${preload}` } });
    node.process.kill("SIGUSR2");
    expect(await node.process.ended).toEqual({ code: 1, signal: null });
    expect(node.process.stderr).toMatch(/"level":60.*planted/);
    while ((await processesAt(dataDir)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
