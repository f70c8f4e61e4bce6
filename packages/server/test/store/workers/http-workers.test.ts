import { TcpProxy } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";
import { HttpWorker } from "./http-worker.js";

let nodes: Cluster;
const proxies: TcpProxy[] = [];
const workers: HttpWorker[] = [];
beforeEach(async () => {
  nodes = await cluster();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map(({ worker }) => worker.stop(0)));
  await nodes.close();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

async function startWorker(...args: ConstructorParameters<typeof HttpWorker>): Promise<HttpWorker> {
  const worker = new HttpWorker(...args);
  workers.push(worker);
  await worker.worker.start();
  return worker;
}

/** A connection to the node that the test can break. */
async function frailWay(node: HttpNode): Promise<{ proxy: TcpProxy; url: string }> {
  const proxy = await TcpProxy.start(node.url);
  proxies.push(proxy);
  return { proxy, url: proxy.through(node.url) };
}

/** Every accepted result, by the fence of its claim. */
const accepted = (node: HttpNode) =>
  node.query<{ fence: number; status: string }>("select fence::int, status from carillon.run_history order by fence");

describe("a worker over HTTP", () => {
  it("a worker over HTTP registers, runs a run, and stores its result", async () => {
    const node = await nodes.start();
    const { worker } = await startWorker([node.url]);
    const id = await node.create({ task: "echo", payload: { a: [1, "x", null] } });
    await node.untilRun(id, { status: "succeeded", output: { a: [1, "x", null] }, attempt: 1 });
    await worker.stop(1_000);
    expect(await node.query("select from carillon.worker_session")).toEqual([]);
  });

  it("a worker over HTTP that lost a poll response gets the run again and starts it once [INV-2] [INV-6]", async () => {
    const node = await nodes.start();
    const { proxy, url } = await frailWay(node);
    proxy.loseAnswerTo(":poll");
    const worker = await startWorker([url]);
    const id = await node.create({ task: "held" });
    const { context, succeed } = await worker.call(0);
    expect(context.fence).toBe(1);
    expect(worker.events.map((event) => event.type)).toContain("worker.transport_failed");
    succeed("done");
    await node.untilRun(id, { status: "succeeded", attempt: 1, losses: 0 });
    expect(worker.calls).toHaveLength(1);
  });

  it("a worker over HTTP that lost the response to a result sends the result again, and it counts once [INV-4]", async () => {
    const node = await nodes.start();
    const { proxy, url } = await frailWay(node);
    const worker = await startWorker([url]);
    const id = await node.create({ task: "held" });
    const { succeed } = await worker.call(0);
    proxy.loseAnswerTo('"results"');
    succeed("done");
    await worker.event("worker.transport_failed");
    await node.untilRun(id, { status: "succeeded", output: "done" });
    await worker.worker.stop(5_000);
    expect(worker.events.map((event) => event.type)).not.toContain("run.result_refused");
    expect(await accepted(node)).toEqual([{ fence: 1, status: "succeeded" }]);
  });

  it("a worker over HTTP keeps a result while the server is unreachable [INV-4]", async () => {
    const node = await nodes.start();
    const { proxy, url } = await frailWay(node);
    const worker = await startWorker([url]);
    const id = await node.create({ task: "held" });
    const { succeed } = await worker.call(0);
    await proxy.refuse();
    proxy.cut();
    succeed("late");
    await worker.event("worker.transport_failed");
    await proxy.resume();
    await node.untilRun(id, { status: "succeeded", output: "late", attempt: 1 });
    expect(worker.calls).toHaveLength(1);
  });

  it("a worker over HTTP continues with another node, under the same claims, when its own stops or is lost [INV-2]", async () => {
    const [a, b] = [await nodes.start(), await nodes.start()];
    const { proxy, url } = await frailWay(b);
    const worker = await startWorker([a.url, url]);
    const first = await a.create({ task: "held" });
    await worker.call(0);
    await a.stop();
    const second = await b.create({ task: "held" });
    (await worker.call(1)).succeed("second");
    await b.untilRun(second, { status: "succeeded", output: "second" });
    proxy.cut();
    worker.calls[0]?.succeed("first");
    await b.untilRun(first, { status: "succeeded", output: "first", attempt: 1, losses: 0 });
    expect(worker.calls).toHaveLength(2);
    expect(worker.events.map((event) => event.type)).not.toContain("worker.session_lost");
  });

  it("a worker over HTTP whose session expired signals its handlers and registers again; its late result is refused [INV-4]", async () => {
    const node = await nodes.start(1_000);
    const worker = await startWorker([node.url]);
    const id = await node.create({ task: "held" });
    const { context, succeed } = await worker.call(0);
    await node.query("delete from carillon.worker_session");
    await worker.event("worker.session_lost");
    expect(context.signal.aborted).toBe(true);
    const again = await worker.call(1);
    expect(again.context.fence).toBe(2);
    succeed("late");
    again.succeed("in time");
    await node.untilRun(id, { status: "succeeded", output: "in time" });
    expect(await accepted(node)).toEqual([{ fence: 2, status: "succeeded" }]);
  });

  it("a worker over HTTP without contact to the server stops its handlers before other workers get their runs", async () => {
    const node = await nodes.start(3_000);
    const { proxy, url } = await frailWay(node);
    const worker = await startWorker([url]);
    const id = await node.create({ task: "held" });
    const { context, fail } = await worker.call(0);
    const stopped = new Promise((resolve) => context.signal.addEventListener("abort", resolve));
    void stopped.then(() => fail(new Error("stopped")));
    void proxy.blackHole();
    await stopped;
    await worker.event("worker.disconnected");
    expect(node.events.map((event) => event.type)).not.toContain("sessions.expired");
    await proxy.resume();
    (await worker.call(1)).succeed("after all");
    await node.untilRun(id, { status: "succeeded", output: "after all", attempt: 1 });
  });

  it("a worker over HTTP drains under load: each run ends once, and released runs lose no attempt [INV-7]", async () => {
    const node = await nodes.start();
    const first = await startWorker([node.url], { slots: 5, ahead: 20 });
    const jobs = Array.from({ length: 300 }, (_, n) => ({ task: n % 10 === 0 ? "held" : "echo", payload: n }));
    await node.call("POST", "/v1/jobs:batchCreate", { jobs });
    const held = await first.call(0);
    const stopping = first.worker.stop(500);
    held.succeed("in the grace time");
    await stopping;
    const second = await startWorker([node.url], { slots: 10, ahead: 20 });
    for (let n = 0; n < 30 && (await accepted(node)).length < 300; n++) {
      const known = second.calls.length;
      for (const call of second.calls) call.succeed("done");
      if (known < 29) await second.until(() => second.calls.length > known);
    }
    const done =
      "select count(*)::int as runs, count(distinct id)::int as ids, max(losses) as losses, max(attempt)::int as attempt";
    const rows = async () => (await node.query(`${done} from carillon.run_history where status = 'succeeded'`))[0];
    await expect.poll(rows, { timeout: 30_000 }).toEqual({ runs: 300, ids: 300, losses: 0, attempt: 1 });
  });

  it("a cordoned worker gets no more runs, and a drained worker is asked to stop", async () => {
    const node = await nodes.start(15_000);
    const worker = await startWorker([node.url]);
    const { workers: listed } = (await node.call("GET", "/v1/workers")).body as { workers: { id: string }[] };
    expect(listed).toMatchObject([{ name: "test", queues: ["default"], state: "active", in_process: false }]);
    const at = `/v1/workers/${listed[0]?.id}`;
    const first = await node.create({ task: "held" });
    (await worker.call(0)).succeed(1);
    await node.untilRun(first, { status: "succeeded" });
    expect(await node.call("POST", `${at}:cordon`)).toMatchObject({ status: 200, body: { state: "cordoned" } });
    const second = await node.create({ task: "held" });
    const other = await startWorker([node.url]);
    (await other.call(0)).succeed(2);
    await node.untilRun(second, { status: "succeeded" });
    expect(worker.calls).toHaveLength(1);
    await other.worker.stop(0);
    expect(await node.call("POST", `${at}:uncordon`)).toMatchObject({ status: 200, body: { state: "active" } });
    const third = await node.create({ task: "held" });
    (await worker.call(1)).succeed(3);
    await node.untilRun(third, { status: "succeeded" });
    expect((await node.call("GET", `${at}/runs`)).body).toMatchObject({ runs: [{ output: 3 }, { output: 1 }] });
    expect(await node.call("POST", `${at}:drain`)).toMatchObject({ status: 200, body: { state: "draining" } });
    await worker.event("worker.drain_requested");
    await worker.worker.stop(0);
    expect((await node.call("GET", at)).status).toBe(404);
  });
});
