import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";
import { HttpWorker } from "./http-worker.js";

let nodes: Cluster;
let node: HttpNode;
const workers: HttpWorker[] = [];
beforeEach(async () => {
  nodes = await cluster();
  node = await nodes.start();
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map(({ worker }) => worker.stop(0)));
  await nodes.close();
});

async function startWorker(): Promise<HttpWorker> {
  const worker = new HttpWorker([node.url]);
  workers.push(worker);
  await worker.worker.start();
  return worker;
}

async function createHeld(): Promise<string> {
  const retry = { max_attempts: 2, initial: "10ms" };
  return String((await node.call("POST", "/v1/jobs", { task: "held", retry })).body["id"]);
}

describe("handler state over HTTP", () => {
  it("a handler over HTTP finds its checkpoint and its steps in the next attempt [INV-2]", async () => {
    const worker = await startWorker();
    await createHeld();
    const first = await worker.call(0);
    await first.context.checkpoint.save({ row: 7 });
    expect(await first.context.step("charge", () => ({ paid: true }))).toEqual({ paid: true });
    first.fail(new Error("no"));
    const second = await worker.call(1);
    expect(second.context.attempt).toBe(2);
    expect(await second.context.checkpoint.load()).toEqual({ row: 7 });
    expect(await second.context.step("charge", () => "again")).toEqual({ paid: true });
    await expect(first.context.checkpoint.save("late")).rejects.toMatchObject({ name: "RunStoppedError" });
    second.succeed(null);
  });

  it("a handler over HTTP reports its progress", async () => {
    const worker = await startWorker();
    const id = await createHeld();
    const { context, succeed } = await worker.call(0);
    context.progress(0.4, "12k rows");
    // Notes are sent in order: when this one is answered, the earlier one was answered too.
    await context.heartbeat();
    const { body } = await node.call("GET", `/v1/runs/${id.replace("job_", "run_")}`);
    expect(body["progress"]).toMatchObject({ fraction: 0.4, text: "12k rows" });
    succeed(null);
  });

  it("a handler over HTTP logs, and a follower gets the lines until the end", async () => {
    const worker = await startWorker();
    const id = (await createHeld()).replace("job_", "run_");
    const { context, succeed } = await worker.call(0);
    context.log.info("begun", { rows: 3 });
    const first = (await node.call("GET", `/v1/runs/${id}/logs?follow=true`)).body;
    expect(first["lines"]).toMatchObject([{ level: "info", message: "begun", fields: { rows: 3 }, number: 1 }]);
    context.log.warn("done");
    succeed(null);
    const next = `/v1/runs/${id}/logs?follow=true&page_token=${String(first["next_page_token"])}`;
    expect((await node.call("GET", next)).body["lines"]).toMatchObject([{ message: "done", number: 2 }]);
    await worker.worker.stop(1_000);
    const all = (await node.call("GET", `/v1/runs/${id}/logs`)).body;
    expect(all).toMatchObject({ lines: [{ number: 1 }, { number: 2 }], next_page_token: null });
  });

  it("a step with a shared key that another run has done returns its result", async () => {
    const worker = await startWorker();
    await createHeld();
    const first = await worker.call(0);
    expect(await first.context.once("welcome:7", () => "sent")).toBe("sent");
    await createHeld();
    const second = await worker.call(1);
    expect(await second.context.once("welcome:7", () => "sent again")).toBe("sent");
  });
});
