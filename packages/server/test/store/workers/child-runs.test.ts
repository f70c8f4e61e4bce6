import type { RunList } from "@carillon/contract";
import { formatId, parseId, systemSoon } from "@carillon/core";
import { task, type TaskDefinition, workerTask } from "@carillon/worker";
import { TcpProxy } from "@carillon/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";
import { HttpWorker } from "./http-worker.js";

let nodes: Cluster;
let node: HttpNode;
const proxies: TcpProxy[] = [];
const workers: HttpWorker[] = [];

beforeEach(async () => {
  nodes = await cluster();
  node = await nodes.start();
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map(({ worker }) => worker.stop(0)));
  await nodes.close();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});

const leaf = task({ name: "leaf", run: (payload: number) => payload });

async function serve(url: string, parent: TaskDefinition<null, unknown>): Promise<void> {
  const tasks = [parent, leaf].map((definition) => workerTask(definition, systemSoon));
  const worker = new HttpWorker([url], { slots: 4, tasks, namespaces: ["*"] });
  workers.push(worker);
  await worker.worker.start();
}

const leaves = () =>
  node.query<{ payload: unknown; namespace: string; parent: string }>(
    `select run.payload, namespace.name as namespace, run.policy ->> 'parent' as parent
     from (select task, payload::text, namespace_id, policy from carillon.run
           union all select task, payload::text, namespace_id, policy from carillon.run_history) run
     join carillon.namespace on namespace.id = run.namespace_id where task = 'leaf' order by payload`,
  );

describe("handlers of a worker over HTTP that create runs", () => {
  it("a retried attempt creates its runs once, each with its parent, in the order of the calls", async () => {
    const parent = task({
      name: "parent",
      retry: { initial: "1ms" },
      run: async (_payload: null, ctx) => {
        await ctx.enqueue(leaf, 1);
        if (ctx.attempt === 1) throw new Error("the first attempt fails");
        const [two] = await ctx.enqueueMany(leaf, [{ payload: 2 }]);
        return two?.isNew;
      },
    });
    await serve(node.url, parent);
    const id = await node.create({ task: "parent", retry: { initial: "1ms" } });
    await node.untilRun(id, { status: "succeeded", output: true, attempt: 2 });
    expect((await leaves()).map(({ payload }) => payload)).toEqual(["1", "2"]);
    const runs = (await (await fetch(`${node.url}/v1/runs?task=leaf`)).json()) as RunList;
    const parentId = formatId("run", parseId("job", id));
    expect(runs.runs.map(({ parent_id: shown }) => shown)).toEqual([parentId, parentId]);
  });

  it("repeats a call whose answer was lost, and creates the run once", async () => {
    const proxy = await TcpProxy.start(node.url);
    proxies.push(proxy);
    proxy.loseAnswerTo("batchCreate");
    const parent = task({ name: "parent", run: async (_payload: null, ctx) => (await ctx.enqueue(leaf, 7)).isNew });
    await serve(proxy.through(node.url), parent);
    const id = await node.create({ task: "parent" });
    await node.untilRun(id, { status: "succeeded", output: false });
    expect((await leaves()).map(({ payload }) => payload)).toEqual(["7"]);
  });

  it("creates the run in the namespace of its parent, which is not the worker's own", async () => {
    const headers = { "content-type": "application/json" };
    await fetch(`${node.url}/v1/namespaces`, { method: "POST", headers, body: JSON.stringify({ name: "billing" }) });
    const parent = task({ name: "parent", run: async (_payload: null, ctx) => (await ctx.enqueue(leaf, 3)).id });
    await serve(node.url, parent);
    const response = await fetch(`${node.url}/v1/runs?wait=30s`, {
      method: "POST",
      headers: { ...headers, "carillon-namespace": "billing" },
      body: JSON.stringify({ task: "parent" }),
    });
    expect(await response.json()).toMatchObject({ status: "succeeded" });
    expect((await leaves()).map(({ namespace }) => namespace)).toEqual(["billing"]);
  });
});
