import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";
import { HttpWorker } from "./http-worker.js";

let nodes: Cluster;
const workers: HttpWorker[] = [];
beforeEach(async () => {
  nodes = await cluster();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map(({ worker }) => worker.stop(0)));
  await nodes.close();
});

async function startWorker(...args: ConstructorParameters<typeof HttpWorker>): Promise<HttpWorker> {
  const worker = new HttpWorker(...args);
  workers.push(worker);
  await worker.worker.start();
  return worker;
}

async function createRun(node: HttpNode, job: object): Promise<string> {
  const { status, body } = await node.call("POST", "/v1/jobs", job);
  expect(status).toBe(201);
  return String(body["id"]);
}

/** Looks until the job's run is as expected. */
async function untilRun(node: HttpNode, jobId: string, expected: object): Promise<void> {
  for (;;) {
    const run = (await node.call("GET", `/v1/jobs/${jobId}`)).body["run"];
    try {
      expect(run).toMatchObject(expected);
      return;
    } catch (error) {
      if (process.hrtime()[0] > deadline) throw error;
      await sleep(20);
    }
  }
}
let deadline = 0;
beforeEach(() => {
  deadline = process.hrtime()[0] + 20;
});

describe("a worker over HTTP", () => {
  it("registers, takes a run, and its result is stored", async () => {
    const node = await nodes.start();
    const { worker } = await startWorker([node.url]);
    const id = await createRun(node, { task: "echo", payload: { a: [1, "x", null] } });
    await untilRun(node, id, { status: "succeeded", output: { a: [1, "x", null] }, attempt: 1 });
    await worker.stop(1_000);
    expect(await node.query("select from carillon.worker_session")).toEqual([]);
  });
});
