import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { TcpProxy } from "@carillon/testkit";
import { describe, expect, it } from "vitest";
import { processesAt } from "../process/scratch.js";
import { call, createJob, jobStatus, startDev, startServer } from "../process/server.js";
import { storedDataDir } from "../process/stored-data-dir.js";

describe("a database that is lost while the node serves", () => {
  it("a node that loses its database answers 503, keeps running, and continues when the database is back", async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: await storedDataDir() });
    const proxy = await TcpProxy.start(postgres.url);
    const { process, url } = await startServer(proxy.through(postgres.url));
    const waiting = await createJob(url, { task: "echo", payload: 1, schedule: { delay: "1s" } });

    await proxy.refuse();
    proxy.cut();
    await process.line(/the database is down/);
    expect(await call(`${url}/v1/jobs`)).toMatchObject({
      status: 503,
      body: { code: "database_unavailable", retryable: true, status: 503 },
    });
    expect((await call(`${url}/v1/jobs`, { task: "echo" })).status).toBe(503);
    expect(await call(`${url}/readyz`)).toMatchObject({ status: 503, body: { status: "not_ready" } });
    expect((await call(`${url}/livez`)).status).toBe(200);

    await proxy.resume();
    await process.line(/the database is back/);
    expect((await call(`${url}/readyz`)).status).toBe(200);
    await process.line(/"run.succeeded"/);
    expect(await jobStatus(url, waiting)).toBe("completed");

    expect(await process.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
    await postgres.stop();
  });

  it("a node stops in time although its database is away", async () => {
    const postgres = await startEmbeddedPostgres({ dataDir: await storedDataDir() });
    const { process, url } = await startServer(postgres.url, ["--shutdown-grace-period", "100ms"]);
    await createJob(url, { task: "sleep", payload: { for: "1h" } });
    await process.line(/"run.started"/);
    await postgres.stop("immediate");
    await process.line(/the database is down/);
    expect(await process.stop()).toEqual({ code: 0, signal: null });
  });

  it("a node restarts its own PostgreSQL after it was killed", async () => {
    const dataDir = await storedDataDir();
    const { process, url } = await startDev(dataDir);
    const id = await createJob(url, { task: "echo", schedule: { cron: "@yearly" } });
    const [postmaster] = (await processesAt(dataDir)).filter(({ command }) => /postgres -D/.test(command));
    globalThis.process.kill(postmaster?.pid ?? 0, "SIGKILL");
    await process.line(/PostgreSQL exited unexpectedly/);
    await process.line(/PostgreSQL was restarted/);
    // The connections recover a moment later, and nothing is lost.
    while ((await call(`${url}/readyz`)).status !== 200) await sleep(50);
    expect(await jobStatus(url, id)).toBe("scheduled");
    expect(await process.stop()).toEqual({ code: 0, signal: null });
    expect(await processesAt(dataDir)).toEqual([]);
  });
});
