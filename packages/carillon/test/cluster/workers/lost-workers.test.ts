import { describe, expect, it } from "vitest";
import { CarillonProcess } from "../../process/carillon-process.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { createJob } from "../../process/server.js";
import { startWorker } from "../../process/worker-process.js";

const args = ["--worker-slots", "0", "--worker-timeout", "3s"];
const history = "select fence::int, status, losses, output::text from carillon.run_history order by fence";

async function patch(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(url, { method: "PATCH", headers, body: JSON.stringify(body) });
  expect(status).toBe(200);
}

const untilEnded = (cluster: NodeCluster, runs: number) =>
  cluster.until("the runs have ended", async () => (await cluster.rows(history)).length === runs);

describe("a worker process", () => {
  it("a killed worker loses its run to another, which runs it under a higher fence; one result counts [INV-2] [INV-4] [INV-5]", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const first = await startWorker([url]);
    await createJob(url, { task: "stay" });
    await first.line(/^begun stay 1 /);
    const begun = "select from carillon.run where started_at is not null";
    await cluster.until("the start is on record", async () => (await cluster.rows(begun)).length === 1);
    const second = await startWorker([url]);
    first.kill("SIGKILL");
    await second.line(/^begun stay 2 /);
    await untilEnded(cluster, 1);
    expect(await cluster.rows(history)).toEqual([{ fence: 2, status: "succeeded", losses: 1, output: "2" }]);
    expect(await cluster.auditFindings()).toEqual([]);
    expect((await second.stop()).code).toBe(0);
  });

  it("an at-most-once run of a killed worker fails, and no worker starts it again [INV-4]", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const first = await startWorker([url]);
    await createJob(url, { task: "stay", guarantee: "at_most_once" });
    await first.line(/^begun stay 1 /);
    const second = await startWorker([url]);
    first.kill("SIGKILL");
    await untilEnded(cluster, 1);
    expect(await cluster.rows("select fence::int, status, status_reason from carillon.run_history")).toEqual([
      { fence: 1, status: "failed", status_reason: "worker_lost" },
    ]);
    await createJob(url, { task: "begin" });
    await untilEnded(cluster, 2);
    expect([second.count(/^begun stay/), second.count(/^begun begin/)]).toEqual([0, 1]);
    expect((await second.stop()).code).toBe(0);
  });

  it("a strict queue waits until the run of a killed worker is rescued, and that run is the next one [INV-4]", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    await patch(`${url}/v1/queues/ordered`, { order: "strict" });
    const first = await startWorker([url]);
    await createJob(url, { task: "stay", queue: "ordered" });
    await first.line(/^begun stay 1 /);
    await createJob(url, { task: "begin", queue: "ordered" });
    const second = await startWorker([url]);
    first.kill("SIGKILL");
    await second.line(/^begun begin 1 /);
    await untilEnded(cluster, 2);
    const order = "select task, fence::int, losses from carillon.run_history order by finished_at";
    expect(await cluster.rows(order)).toEqual([
      { task: "stay", fence: 2, losses: 1 },
      { task: "begin", fence: 1, losses: 0 },
    ]);
    expect(first.count(/^begun begin/)).toBe(0);
    expect((await second.stop()).code).toBe(0);
  });

  it("the next worker gets the checkpoint of a killed worker [INV-2]", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const first = await startWorker([url]);
    await createJob(url, { task: "save" });
    await first.line(/^saved save 1 /);
    const second = await startWorker([url]);
    first.kill("SIGKILL");
    await untilEnded(cluster, 1);
    expect(await cluster.rows(history)).toMatchObject([{ fence: 2, status: "succeeded", output: '{"by":1}' }]);
    expect((await second.stop()).code).toBe(0);
  });

  it("a spot worker gets only runs that allow it, and gives them back on notice without a spent attempt", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const spot = await startWorker([url], ["--spot", "--label", "zone=eu"]);
    await createJob(url, { task: "begin" });
    await createJob(url, { task: "stay", allow_spot: true, requires: { zone: "eu" } });
    await spot.line(/^begun stay 1 /);
    spot.kill("SIGUSR2");
    expect((await spot.ended).code).toBe(0);
    expect(spot.count(/^begun begin/)).toBe(0);
    const lasting = await startWorker([url], ["--label", "zone=eu"]);
    await untilEnded(cluster, 2);
    const rows = "select task, fence::int, attempt, losses, status from carillon.run_history order by task";
    expect(await cluster.rows(rows)).toEqual([
      { task: "begin", fence: 1, attempt: 1, losses: 0, status: "succeeded" },
      { task: "stay", fence: 2, attempt: 1, losses: 0, status: "succeeded" },
    ]);
    expect((await lasting.stop()).code).toBe(0);
  });

  it("a worker that was frozen past its timeout loses its run, and its result is refused [INV-4]", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const first = await startWorker([url], ["--shutdown-grace-period", "200ms"]);
    await createJob(url, { task: "begin", payload: { ms: 300 } });
    await first.line(/^begun begin 1 /);
    first.kill("SIGSTOP");
    const second = await startWorker([url]);
    await second.line(/^ended begin 2 /);
    await untilEnded(cluster, 1);
    first.kill("SIGCONT");
    await first.line(/worker\.session_lost/);
    expect(await cluster.rows(history)).toEqual([{ fence: 2, status: "succeeded", losses: 0, output: "2" }]);
    // The worker gets runs again.
    await second.stop();
    await createJob(url, { task: "stay" });
    await first.line(/^begun stay 1 /);
    first.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
  });

  it("a worker continues with another node when its own is killed, and nothing is re-executed [INV-2]", async () => {
    const cluster = await NodeCluster.start(["a", "b"], { args });
    const [a, b] = [cluster.node("a"), cluster.node("b")];
    const worker = await startWorker([a.url, b.url]);
    await createJob(a.url, { task: "begin", payload: { ms: 2_500 } });
    await worker.line(/^begun begin 1 /);
    await a.kill();
    await createJob(b.url, { task: "begin" });
    await untilEnded(cluster, 2);
    const done = { fence: 1, status: "succeeded", losses: 0, output: "1" };
    expect(await cluster.rows(history)).toEqual([done, done]);
    expect(worker.count(/^begun/)).toBe(2);
    expect(worker.count(/session_lost/)).toBe(0);
    expect((await worker.stop()).code).toBe(0);
  });

  it("a worker gives back on SIGTERM the runs that do not end within the grace time, and ends immediately on a second signal", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const first = await startWorker([url], ["--shutdown-grace-period", "200ms"]);
    await createJob(url, { task: "stay" });
    await first.line(/^begun stay 1 /);
    expect(await first.stop()).toEqual({ code: 0, signal: null });
    const second = await startWorker([url], ["--shutdown-grace-period", "1h"]);
    await second.line(/^begun stay 2 /);
    await untilEnded(cluster, 1);
    expect(await cluster.rows(history)).toEqual([{ fence: 2, status: "succeeded", losses: 0, output: "2" }]);

    await createJob(url, { task: "stay" });
    await second.line(/^begun stay 1 /);
    second.kill("SIGTERM");
    await second.line(/draining; a second signal stops at once/);
    // Signals within the first half second count as one.
    const again = setInterval(() => second.kill("SIGTERM"), 50);
    const { code } = await second.ended;
    clearInterval(again);
    expect(code).toBe(143);
  });

  it("a worker ends when an operator drains it with the command line", async () => {
    const cluster = await NodeCluster.start(["a"], { args });
    const { url } = cluster.node("a");
    const worker = await startWorker([url], ["--name", "mail-1"]);
    const list = new CarillonProcess(["worker", "list", "--url", url, "--json"]);
    expect((await list.ended).code).toBe(0);
    const [listed] = JSON.parse(list.stdout) as { id: string }[];
    expect(listed).toMatchObject({
      name: "mail-1",
      queues: ["*"],
      tasks: expect.arrayContaining(["begin", "save", "stay"]) as string[],
      state: "active",
    });
    const drain = new CarillonProcess(["worker", "drain", listed?.id ?? "", "--url", url]);
    expect((await drain.ended).code).toBe(0);
    expect(await worker.ended).toEqual({ code: 0, signal: null });
  });
});
