import type { Run, RunAttempts, RunEvents, RunExplanation } from "@carillon/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Cluster, cluster, type HttpNode } from "./http-node.js";

let nodes: Cluster;
let node: HttpNode;
beforeEach(async () => {
  nodes = await cluster();
  node = await nodes.start();
});
afterEach(() => nodes.close());

interface Claim {
  readonly worker: string;
  readonly run_id: string;
  readonly fence: number;
}

async function register(): Promise<string> {
  const worker = { name: "raw", queues: ["default"], tasks: ["work"], slots: 5, ahead: 0 };
  return String((await node.call("POST", "/v1/workers:register", worker)).body["id"]);
}

/** A new worker claims the only run that waits. */
async function claim(worker: string): Promise<Claim> {
  const { body } = await node.call("POST", `/v1/workers/${worker}:poll`, { held: [] });
  const [run] = body["runs"] as Omit<Claim, "worker">[];
  if (run === undefined) throw new Error("no run was assigned");
  return { worker, run_id: run.run_id, fence: run.fence };
}

/** The worker reports that it has called the handler. */
async function start({ worker, ...run }: Claim): Promise<void> {
  const started = [{ ...run, ago_ms: 5 }];
  const { status } = await node.call("POST", `/v1/workers/${worker}:heartbeat`, { held: [run], started });
  expect(status).toBe(200);
}

/** As if the worker's process had been killed, and its session declared dead. */
const kill = ({ worker }: Claim) => node.call("POST", `/v1/workers/${worker}:close`);

const succeed = ({ worker, ...run }: Claim) =>
  node.call("POST", `/v1/workers/${worker}:poll`, {
    held: [],
    results: [{ ...run, started_ago_ms: 1, outcome: "succeeded", output: 1 }],
  });

const get = async <Body>(path: string): Promise<Body> => (await node.call("GET", path)).body as Body;

/** What every view of a run shows of its claims. */
async function shown(id: string) {
  const [run, { attempts }, { events }] = await Promise.all([
    get<Run>(`/v1/runs/${id}`),
    get<RunAttempts>(`/v1/runs/${id}/attempts`),
    get<RunEvents>(`/v1/runs/${id}/events`),
  ]);
  expect(run.attempts).toEqual(attempts);
  return {
    run,
    attempts: attempts.map(({ attempt, fence, worker_id, outcome }) => [attempt, fence, worker_id, outcome]),
    events: events.filter(({ type }) => type !== "created" && type !== "due").map((one) => [one.type, one.worker_id]),
  };
}

describe("a run whose worker is lost", () => {
  it("shows the lost claim, its worker and its times, and the new claim, in every view", async () => {
    const job = await node.create({ task: "work" });
    const first = await claim(await register());
    const { worker, run_id: id } = first;
    await start(first);
    await kill(first);
    await node.untilRun(job, { status: "queued", status_reason: "worker_lost", losses: 1 });

    const waiting = await shown(id);
    expect(waiting.attempts).toEqual([[1, 1, worker, "worker_lost"]]);
    expect(waiting.events).toEqual([
      ["started", worker],
      ["worker_lost", worker],
    ]);
    const [lost] = waiting.run.attempts;
    expect(Date.parse(lost?.ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(lost?.started_at ?? ""));
    const why = await get<RunExplanation>(`/v1/runs/${id}/explain`);
    expect(why.detail).toMatch(new RegExp(`; ${worker} was lost with it at ${lost?.ended_at} \\(loss 1\\)$`));
    expect(why.facts).toMatchObject({ lost_worker: worker, losses: 1 });

    const second = await claim(await register());
    expect((await shown(id)).attempts).toEqual([
      [1, 1, worker, "worker_lost"],
      [1, 2, second.worker, "running"],
    ]);
    expect(await get<RunExplanation>(`/v1/runs/${id}/explain`)).toMatchObject({
      code: "running",
      detail: expect.stringContaining(`; ${worker} was lost with it at `),
    });

    await succeed(second);
    await node.untilRun(job, { status: "succeeded", losses: 1 });
    const ended = await shown(id);
    expect(ended.attempts).toEqual([
      [1, 1, worker, "worker_lost"],
      [1, 2, second.worker, "succeeded"],
    ]);
    expect(ended.events).toEqual([
      ["started", worker],
      ["worker_lost", worker],
      ["started", second.worker],
      ["succeeded", second.worker],
    ]);
    expect(ended.run.duration_ms).toBe(ended.run.attempts.at(-1)?.duration_ms);
  });

  it("shows a claim whose start was not recorded as not started, which counts against nothing", async () => {
    const job = await node.create({ task: "work" });
    const first = await claim(await register());
    await kill(first);
    await node.untilRun(job, { status: "queued", status_reason: "not_started", losses: 0 });
    expect((await shown(first.run_id)).attempts).toEqual([[1, 1, first.worker, "not_started"]]);
    const why = await get<RunExplanation>(`/v1/runs/${first.run_id}/explain`);
    expect(why.detail).toContain(`; ${first.worker} was lost before it had started it at `);
  });

  it("shows the last loss of a run that fails by it, and a cancellation after a loss as no attempt", async () => {
    const once = await node.create({ task: "work", guarantee: "at_most_once" });
    const first = await claim(await register());
    await start(first);
    await kill(first);
    await node.untilRun(once, { status: "failed", status_reason: "worker_lost" });
    expect(await shown(first.run_id)).toMatchObject({
      attempts: [[1, 1, first.worker, "worker_lost"]],
      events: [
        ["started", first.worker],
        ["worker_lost", first.worker],
      ],
    });

    const cancelled = await node.create({ task: "work" });
    const second = await claim(await register());
    await start(second);
    await kill(second);
    await node.untilRun(cancelled, { status: "queued" });
    await node.call("POST", `/v1/runs/${second.run_id}:cancel`);
    expect(await shown(second.run_id)).toMatchObject({
      attempts: [[1, 1, second.worker, "worker_lost"]],
      events: [
        ["started", second.worker],
        ["worker_lost", second.worker],
        ["cancelled", null],
      ],
    });
  });

  it("shows a started run that a draining worker gives back as drained, and one that it had not started not at all", async () => {
    const job = await node.create({ task: "work" });
    const worker = await register();
    const release = async ({ run_id, fence }: Claim) =>
      node.call("POST", `/v1/workers/${worker}:release`, { runs: [{ run_id, fence }] });
    const first = await claim(worker);
    await release(first);
    expect((await shown(first.run_id)).attempts).toEqual([]);
    const second = await claim(worker);
    await start(second);
    await release(second);
    await node.untilRun(job, { status: "queued", losses: 0 });
    expect((await shown(first.run_id)).attempts).toEqual([[1, 2, worker, "drained"]]);
    expect((await get<RunExplanation>(`/v1/runs/${first.run_id}/explain`)).detail).toContain(
      `; ${worker} was drained and gave it back at `,
    );
  });
});

describe("the duration of a run", () => {
  it.each([
    ["succeeded", { outcome: "succeeded", output: 1 }],
    ["failed", { outcome: "failed", error: { type: "Error", message: "no", retryable: false } }],
  ])("is the same in the run that %s and in its event, however long the commit takes", async (status, how) => {
    await node.query(
      "create function pause() returns trigger language plpgsql as 'begin perform pg_sleep(0.05); return null; end'",
    );
    await node.query(
      "create constraint trigger slow_commit after delete on carillon.run deferrable initially deferred for each row execute function pause()",
    );
    const job = await node.create({ task: "work" });
    const { worker, ...claimed } = await claim(await register());
    const result = { ...claimed, started_ago_ms: 0, ...how };
    await node.call("POST", `/v1/workers/${worker}:poll`, { held: [], wait_ms: 0, results: [result] });
    await node.untilRun(job, { status });
    const { duration_ms: durationMs } = await get<Run>(`/v1/runs/${claimed.run_id}`);
    expect(node.events).toContainEqual(expect.objectContaining({ type: `run.${status}`, durationMs }));
  });
});

describe("the attempts of a run", () => {
  it("agree in the run and in /attempts, the last one included", async () => {
    const job = await node.create({ task: "work", retry: { max_attempts: 2, initial: "1ms", jitter: "none" } });
    const worker = await register();
    const first = await claim(worker);
    const error = { type: "Error", message: "no", stack: "Error: no\n    at here", retryable: true };
    await node.call("POST", `/v1/workers/${worker}:poll`, {
      held: [],
      wait_ms: 0,
      results: [{ run_id: first.run_id, fence: 1, started_ago_ms: 0, outcome: "failed", error }],
    });
    const second = await claim(worker);
    await succeed(second);
    await node.untilRun(job, { status: "succeeded" });
    const { run, attempts } = await shown(first.run_id);
    expect(attempts).toEqual([
      [1, 1, worker, "failed"],
      [2, 2, worker, "succeeded"],
    ]);
    expect(run.attempts[0]).toMatchObject({ error: { message: "no", stack: error.stack }, duration_ms: 0 });
  });
});
