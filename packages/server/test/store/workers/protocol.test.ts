import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";

let nodes: Cluster;
let node: HttpNode;
let id = "";
beforeEach(async () => {
  nodes = await cluster();
  node = await nodes.start();
  const worker = { name: "raw", queues: ["default"], tasks: ["work"], slots: 5, ahead: 0 };
  id = String((await node.call("POST", "/v1/workers:register", worker)).body["id"]);
});
afterEach(() => nodes.close());

interface Run {
  readonly run_id: string;
  readonly fence: number;
}

const verb = (name: string, body: object = {}) => node.call("POST", `/v1/workers/${id}:${name}`, body);

/** Claims one run. */
async function take(held: readonly Run[] = []): Promise<Run> {
  const { status, body } = await verb("poll", { held });
  expect(status).toBe(200);
  const [run] = body["runs"] as Run[];
  if (run === undefined) throw new Error("no run was assigned");
  return { run_id: run.run_id, fence: run.fence };
}

const success = (run: Run, output: unknown = 1) => ({ ...run, started_ago_ms: 0, outcome: "succeeded", output });
const results = async (...some: object[]) => (await verb("poll", { held: [], results: some })).body;

describe("the worker protocol", () => {
  it("the worker protocol refuses the result of a released claim, also if the same worker claimed the run again [INV-4]", async () => {
    const job = await node.create({ task: "work" });
    const first = await take();
    expect((await verb("release", { runs: [first] })).status).toBe(204);
    const second = await take();
    expect(second).toEqual({ run_id: first.run_id, fence: first.fence + 1 });
    expect(await results(success(first, "first"))).toMatchObject({ refused: [first.run_id] });
    expect(await results(success(second, "second"))).toMatchObject({ refused: [] });
    await node.untilRun(job, { status: "succeeded", output: "second", attempt: 1, losses: 0 });
  });

  it("the worker protocol accepts a repeated result once, and confirms it [INV-4]", async () => {
    const job = await node.create({ task: "work" });
    const run = await take();
    for (let time = 0; time < 2; time++) expect(await results(success(run))).toMatchObject({ refused: [] });
    await node.untilRun(job, { status: "succeeded", attempt: 1 });
    expect(await node.query("select from carillon.run_history")).toHaveLength(1);
  });

  it("the worker protocol reports which claims of a worker are over", async () => {
    await node.create({ task: "work" });
    const run = await take();
    await results(success(run));
    const mine = { run_id: run.run_id, fence: run.fence };
    expect((await verb("heartbeat", { held: [mine] })).body).toEqual({ lost: [mine] });
    expect((await verb("poll", { held: [mine], wait_ms: 0 })).body).toMatchObject({ lost: [mine] });
  });

  it("stores an output of any valid JSON, and fails the run for an output that cannot be stored", async () => {
    const job = await node.create({ task: "work" });
    const odd = await node.create({ task: "work" });
    const runs = [await take()];
    runs.push(...((await verb("poll", { held: runs })).body["runs"] as Run[]));
    const [a, b] = runs.map(({ run_id, fence }) => ({ run_id, fence }));
    if (a === undefined || b === undefined) throw new Error("two runs were expected");
    expect(await results(success(a, { deep: [["x"]] }), success(b, "\0"))).toMatchObject({ refused: [] });
    await node.untilRun(job, { status: "succeeded", output: { deep: [["x"]] } });
    await node.untilRun(odd, { status: expect.stringMatching(/succeeded|failed/) });
  });

  it.each(["poll", "heartbeat", "release"])("answers %s of an expired session with 410", async (name) => {
    expect((await verb("close")).status).toBe(204);
    const answer = await verb(name, name === "release" ? { runs: [] } : {});
    expect(answer).toMatchObject({ status: 410, body: { code: "session_lost", retryable: false } });
    expect((await verb("close")).status).toBe(204);
  });

  it.each(["poll", "heartbeat", "release", "state"])("refuses %s of a session of another namespace", async (name) => {
    await node.query("insert into carillon.namespace (name) values ('other')");
    await node.query("update carillon.worker_session set namespace_id = (select max(id) from carillon.namespace)");
    const other = await nodes.start();
    const body = { release: { runs: [] }, state: { requests: [] } }[name] ?? {};
    const answer = await other.call("POST", `/v1/workers/${id}:${name}`, body);
    expect(answer).toMatchObject({ status: 410, body: { code: "session_lost" } });
    expect((await other.call("POST", `/v1/workers/${id}:close`)).status).toBe(204);
    expect(await node.query("select from carillon.worker_session")).toHaveLength(1);
  });

  it("refuses versions and weights of tasks that the worker does not have", async () => {
    const worker = {
      name: "raw",
      queues: ["*"],
      tasks: ["a"],
      slots: 1,
      versions: { "b/c": ["1"] },
      weights: { d: 2 },
    };
    const answer = await node.call("POST", "/v1/workers:register", worker);
    expect(answer.status).toBe(400);
    expect((answer.body["errors"] as { pointer: string }[]).map((item) => item.pointer)).toEqual([
      "/versions/b~1c",
      "/weights/d",
    ]);
  });

  it("explains a run that no worker can take", async () => {
    const waiting = async (run: object) => {
      const made = (await node.call("POST", "/v1/runs", run)).body;
      return (await node.call("GET", `/v1/runs/${String(made["id"])}`)).body["waiting_on"];
    };
    expect(await waiting({ task: "pdf" })).toEqual({ code: "no_worker_for_task", detail: "no worker serves task pdf" });
    expect(await waiting({ task: "work", task_version: "3" })).toMatchObject({ code: "no_worker_for_version" });
    expect(await waiting({ task: "work", requires: { gpu: "a" } })).toMatchObject({ code: "no_worker_with_labels" });
    expect(await waiting({ task: "work" })).toMatchObject({ code: "position" });
    await verb("cordon");
    expect(await waiting({ task: "work" })).toMatchObject({ code: "workers_cordoned" });
  });

  it.each([
    ["poll", { held: [{ run_id: "x", fence: 1 }] }, "/held/0/run_id"],
    ["poll", { results: [{ run_id: 5 }] }, "/results/0/fence"],
    ["poll", { wait_ms: 60_000 }, "/wait_ms"],
    ["poll", { nothing: 1 }, "/nothing"],
    ["heartbeat", { started: [{}] }, "/started/0/run_id"],
    ["release", {}, "/runs"],
  ])("refuses %s with %j, with a pointer", async (name, body, pointer) => {
    const answer = await verb(name, body);
    expect(answer.status).toBe(400);
    expect((answer.body["errors"] as { pointer: string }[]).map((item) => item.pointer)).toContain(pointer);
  });

  it("refuses a failure without an error, and a snooze without a time", async () => {
    const run = { run_id: "019a7f71-ece5-7060-8d10-5b3a9c36e0ad", fence: 1, started_ago_ms: 0 };
    const answer = await verb("poll", {
      results: [
        { ...run, outcome: "failed" },
        { ...run, outcome: "snoozed" },
      ],
    });
    expect((answer.body["errors"] as { pointer: string }[]).map((item) => item.pointer)).toEqual([
      "/results/0/error",
      "/results/1/delay_ms",
    ]);
  });
});
