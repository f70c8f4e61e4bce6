import { systemClock, systemRandom, systemSoon, systemTimers } from "@carillon/core";
import { HttpTransport, mainLoopHeartbeat, task, Worker, workerTask } from "@carillon/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";

const timers = { ...systemTimers, monotonic: () => systemClock.monotonic(), soon: systemSoon };

let nodes: Cluster;
let node: HttpNode;
let worker: Worker;
beforeAll(async () => {
  nodes = await cluster();
  node = await nodes.start();
  const welcome = task({
    name: "mail.welcome",
    queue: "mail",
    timeout: "2m",
    retry: { maxAttempts: 3, backoff: "fixed", initial: "1ms", jitter: "none" },
    run: (_payload, { attempt }) => {
      if (attempt < 3) throw new Error("not yet");
      return attempt;
    },
  });
  worker = new Worker({
    transport: new HttpTransport({
      urls: [node.url],
      timers,
      random: systemRandom,
      heartbeat: mainLoopHeartbeat(systemTimers),
    }),
    tasks: [workerTask(welcome, systemSoon)],
    name: "test",
    queues: ["mail"],
    slots: 2,
    timers,
  });
  await worker.start();
});
afterAll(async () => {
  await worker.stop(0);
  await nodes.close();
});

describe("task defaults over HTTP", () => {
  it("a job created without the SDK uses the task defaults of its worker from the registration on", async () => {
    const id = await node.create({ task: "mail.welcome" });
    await node.untilRun(id, { status: "succeeded", queue: "mail", attempt: 3, max_attempts: 3, output: 3 });
    const { body } = await node.call("GET", "/v1/tasks/mail.welcome");
    const retry = { max_attempts: 3, backoff: "fixed", initial: "1ms", jitter: "none" };
    expect(body["defaults"]).toEqual({ queue: "mail", timeout: "2m", retry });
  });

  it("a job keeps the task defaults of its creation: later changes of either do not apply them", async () => {
    const made = { task: "mail.welcome", key: "kept", schedule: { manual: true }, retry: { max_attempts: 9 } };
    expect(await node.call("PUT", "/v1/jobs/@kept", made)).toMatchObject({
      status: 201,
      body: { timeout: "2m", retry: { max_attempts: 9, backoff: "exponential" } },
    });
    await node.call("PATCH", "/v1/jobs/@kept", { timeout: null });
    const other = { name: "raw", queues: ["mail"], tasks: ["mail.welcome"], slots: 1 };
    const defaults = { "mail.welcome": { queue: "mail", timeout: "5m" } };
    expect((await node.call("POST", "/v1/workers:register", { ...other, defaults })).status).toBe(201);
    await node.call("PATCH", "/v1/jobs/@kept", { priority: 7 });
    expect((await node.call("GET", "/v1/jobs/@kept")).body).toMatchObject({ timeout: null, priority: 7 });
    expect((await node.call("PUT", "/v1/jobs/@kept", made)).body).toMatchObject({ timeout: "5m", priority: 4 });
  });
});
