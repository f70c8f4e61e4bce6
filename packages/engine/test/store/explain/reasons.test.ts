import { formatId, type JobSpec, type KeyedLimit, requirementsOf } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WorkerRegistration } from "../../../src/dispatch/sessions/worker-registration.js";
import { limitText } from "../../../src/limits/limit-text.js";
import type { JobWaitCode, RunWaitCode } from "../../../src/explain/explanation.js";
import { type DependencyHarness, dependencyHarness } from "../../harness/dependency-harness.js";
import { actor, period, spec } from "../../harness/change-harness.js";
import { gatewayOver } from "../../harness/gateway-harness.js";

let h: DependencyHarness;
beforeAll(async () => {
  h = await dependencyHarness();
});
afterAll(() => h.close());

const time = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;
const span = String.raw`(\d+h)?(\d+m)?(\d+s)?(\d+ms)?`;

async function make(over: Partial<JobSpec> = {}): Promise<string> {
  const { id } = await h.engine.jobs.create("default", spec({ firing: { overlap: "allow" }, ...over }));
  return (await h.engine.jobs.runNow("default", { id }, {}, actor)).id;
}

/** A registered worker that claims nothing. */
async function worker(over: Partial<WorkerRegistration>): Promise<string> {
  const { gateway } = gatewayOver(h);
  const ignored = { onAssign: () => undefined, onStop: () => undefined, onLost: () => undefined };
  const about = { namespace: "default", name: "w", queues: ["*"], tasks: [], slots: 1, nodeId: null };
  const id = await gateway.open({ ...about, ...ignored, ...over });
  gateway.stop();
  return id;
}

const noDetails = { perMs: null, burst: null, onFailure: null };

/** A run behind a limit, of which so many are in use. */
async function limited(limit: KeyedLimit, row: { used: number; starts?: readonly number[] } | null): Promise<string> {
  const queue = `behind-${limit.name}`;
  const id = await make({ queue });
  const text = limitText([limit], { namespaceId: 1, queue });
  await h.select("update carillon.run set state = 'blocked', state_reason = null, limits = $2 where id = $1", id, text);
  if (row === null) return id;
  await h.select(
    `insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, per_ms, burst, defined_at, used, starts)
     values (1, $1, $2, $3, $4, $5, $6, now(), $7, $8)`,
    limit.scope,
    limit.kind,
    limit.name,
    limit.limit,
    limit.perMs,
    limit.burst,
    row.used,
    row.starts ?? [],
  );
  return id;
}

async function changed(set: string, over: Partial<JobSpec> = {}): Promise<string> {
  const id = await make(over);
  await h.select(`update carillon.run set ${set} where id = $1`, id);
  return id;
}

/** For each reason: how a run gets it, and the sentence that explains it. */
const runReasons: Readonly<Record<RunWaitCode, readonly [make: () => Promise<string>, says: string]>> = {
  ended: [async () => h.runOnce(await h.upstream()), `^succeeded at ${time}$`],
  running: [async () => h.begin(await h.upstream()), `^attempt 1 of \\d+ runs on wrk_`],
  due_later: [
    () => changed("state = 'scheduled', run_at = now() + interval '3 minutes'"),
    `^due in (3m|2m5\\ds), at ${time}$`,
  ],
  due_now: [() => changed("state = 'scheduled'"), "^it is due and is about to be queued$"],
  retry_later: [
    () => changed("state = 'retrying', attempt = 2, run_at = now() + interval '1 minute'"),
    `^retry 3 of 5 at ${time}, in (1m|5\\ds)$`,
  ],
  overlap: [
    async () => {
      const { id } = await h.engine.jobs.create("default", spec({ firing: { overlap: "queue_all" } }));
      await h.engine.jobs.runNow("default", { id }, {}, actor);
      return (await h.engine.jobs.runNow("default", { id }, {}, actor)).id;
    },
    "^waits for run_\\w+ of the same job, which is queued; 1 of its runs go before it$",
  ],
  queue_paused: [
    async () => {
      const pause = { reason: "provider is down", until: null };
      await h.engine.queues.pause("default", "mail", pause, { actor: "ops@example.com" });
      return make({ queue: "mail" });
    },
    `^queue mail is paused by ops@example.com since ${time}: provider is down$`,
  ],
  limit_concurrency: [
    () => limited({ scope: "key", kind: "concurrency", name: "customer:42", limit: 5, ...noDetails }, { used: 5 }),
    '^key "customer:42": 5 of 5 are running$',
  ],
  limit_rate: [
    () => {
      const rate = { perMs: 60_000, burst: 2, onFailure: null };
      const starts = [Math.floor(h.db.clock.now()) - 48_000, 2];
      return limited({ scope: "key", kind: "rate", name: "api", limit: 2, ...rate }, { used: 0, starts });
    },
    '^rate limit of key "api": 2 in 1m, about 1[0-2]s$',
  ],
  limit_order: [
    () => limited({ scope: "key", kind: "order", name: "account:7", limit: 1, ...noDetails }, { used: 1 }),
    '^key "account:7" goes in order: the run before is not over$',
  ],
  limit_pending: [
    () => limited({ scope: "key", kind: "concurrency", name: "free", limit: 5, ...noDetails }, { used: 4 }),
    "^its limits have room: it is admitted in its turn$",
  ],
  breaker_open: [
    async () => {
      await h.store.breakers.open(
        { namespaceId: 1, name: "payments" },
        { reason: "6 of 10 failed", forMs: 60_000, usualMs: 60_000 },
      );
      return make({ task: "pay", policy: { requires: requirementsOf({ breaker: "payments" }) } });
    },
    `^breaker payments is open until ${time}, for (1m|5\\ds) more: 6 of 10 failed$`,
  ],
  position: [
    async () => {
      await worker({ tasks: ["line"] });
      await make({ task: "line", queue: "line" });
      return make({ task: "line", queue: "line" });
    },
    `^position 2 of 2 in queue line; due for ${span}; 1 worker with 1 slot can take it, and 0 runs of the queue are at work$`,
  ],
  no_worker_for_task: [() => make({ task: "pdf" }), "^no worker serves task pdf$"],
  no_worker_for_queue: [
    async () => {
      await worker({ tasks: ["csv"], queues: ["other"] });
      return make({ task: "csv" });
    },
    "^no worker that has task csv serves queue default$",
  ],
  no_worker_for_version: [
    async () => {
      await worker({ tasks: ["gif"], versions: { gif: ["2"] } });
      return make({ task: "gif", policy: { requires: requirementsOf({ version: "3" }) } });
    },
    "^no worker has version 3 of task gif$",
  ],
  no_worker_with_labels: [
    async () => {
      await worker({ tasks: ["png"], labels: { zone: "us" } });
      return make({ task: "png", policy: { requires: requirementsOf({ labels: { zone: "eu" } }) } });
    },
    "^no worker that has task png has the labels zone=eu$",
  ],
  only_spot_workers: [
    async () => {
      await worker({ tasks: ["jpg"], isSpot: true });
      return make({ task: "jpg" });
    },
    "^task jpg has only spot workers, which the run does not allow$",
  ],
  workers_cordoned: [
    async () => {
      await h.engine.workers.requestState("default", await worker({ tasks: ["svg"] }), "cordoned");
      return make({ task: "svg" });
    },
    "^the worker that could take it is cordoned or draining$",
  ],
};

describe("the explanation of a run", () => {
  it.each(Object.entries(runReasons))("gives the reason %s with its numbers", async (code, [makeRun, says]) => {
    const answer = await h.engine.explanations.run("default", await makeRun());
    expect(answer?.explanation).toMatchObject({ code, detail: expect.stringMatching(new RegExp(says)) as string });
  });

  it("names the breaker of a run that failed while the breaker was open", async () => {
    const policy = { requires: requirementsOf({ breaker: "payments" }) };
    const set = "state = 'scheduled', state_reason = 'breaker_open', run_at = now() + interval '1 minute'";
    const answer = await h.engine.explanations.run("default", await changed(set, { task: "pay", policy }));
    expect(answer?.explanation).toMatchObject({ code: "breaker_open", facts: { breaker: "payments", state: "open" } });
  });

  it("says that the limits are about to be checked before the first check", async () => {
    const limit: KeyedLimit = { scope: "key", kind: "concurrency", name: "new", limit: 1, ...noDetails };
    const answer = await h.engine.explanations.run("default", await limited(limit, null));
    expect(answer?.explanation.code).toBe("limit_pending");
  });

  it("counts the runs that wait for the same limit and precede it", async () => {
    const limit: KeyedLimit = { scope: "key", kind: "concurrency", name: "busy", limit: 2, ...noDetails };
    await limited(limit, { used: 2 });
    const answer = await h.engine.explanations.run("default", await limited(limit, null));
    expect(answer?.explanation).toMatchObject({
      detail: 'key "busy": 2 of 2 are running; 1 that wait for the same go before it',
      facts: { key: "busy", used: 2, limit: 2, ahead: 1 },
    });
  });

  it("is null for a run that does not exist", async () => {
    expect(await h.engine.explanations.run("default", "0193e2c4-0000-7000-8000-000000000000")).toBeNull();
  });
});

const recurring = (over: Partial<JobSpec> = {}): Promise<string> => h.recurring(over);
const future = (): number => Math.floor(h.db.clock.now()) + 3_600_000;

/** For each reason: how a job gets it, and the sentence that explains it. */
const jobReasons: Readonly<Record<JobWaitCode, readonly [make: () => Promise<string>, says: string]>> = {
  fires: [
    async () =>
      (await h.engine.jobs.create("default", spec({ key: "later", schedule: { kind: "at", at: future() } }))).id,
    `^fires in (1h|59m.*), at ${time}$`,
  ],
  fires_now: [recurring, `^it has been due for ${span} and (is about to fire|no node has fired it yet: .*)$`],
  window: [
    async () => {
      const id = await recurring();
      await h.select(
        "update carillon.job_due set state_reason = 'held 1', next_fire_at = now() + interval '10 minutes' where job_id = $1",
        id,
      );
      return id;
    },
    `^a maintenance window holds the occurrence that is due, until ${time}, for (10m|9m.*) more$`,
  ],
  paused: [
    async () => {
      const id = await h.recurring({}, 2);
      const pause = { reason: "audit", until: future(), missed: "none" } as const;
      await h.engine.jobs.pause("default", { id }, pause, { actor: "ops" });
      return id;
    },
    `^paused by ops since ${time}, until ${time}.*: audit$`,
  ],
  completed: [
    async () => {
      const schedule = { kind: "every", everyMs: period, anchor: h.last - period, maxRuns: 1 } as const;
      const id = await h.recurring({ schedule });
      await h.fire(id);
      await h.select("update carillon.job_due set state = 'completed' where job_id = $1 and state <> 'completed'", id);
      return id;
    },
    "^nothing is left to fire: ",
  ],
  cancelled: [
    async () => {
      const id = await h.upstream();
      await h.engine.jobs.cancel("default", { id }, { running: "keep" }, actor);
      return id;
    },
    "^it is cancelled and fires no more$",
  ],
  manual: [() => h.upstream(), "^it runs only when asked$"],
  after: [
    async () => {
      const up = await h.upstream({ key: "load" });
      await h.upstream({ key: "clean" });
      const id = await h.waiting([
        { job: "load", on: "success" },
        { job: "clean", on: "finish" },
      ]);
      await h.runOnce(up);
      await h.processEnds();
      return id;
    },
    String.raw`^waits for clean to end \(1 of 2 are met\)$`,
  ],
  never: [
    async () => {
      const id = await recurring();
      await h.select("update carillon.job_due set next_nominal_at = null, next_fire_at = null where job_id = $1", id);
      return id;
    },
    "^its schedule has no instant to come$",
  ],
};

describe("the explanation of a job", () => {
  it.each(Object.entries(jobReasons))("gives the reason %s with its numbers", async (code, [makeJob, says]) => {
    const answer = await h.engine.explanations.job("default", { id: await makeJob() });
    expect(answer).toMatchObject({ code, detail: expect.stringMatching(new RegExp(says)) as string });
  });

  it("lists the latest skipped occurrences and says why the newest run waits", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: formatId("job", up), on: "success" }], { firing: { overlap: "skip" } });
    for (let n = 0; n < 2; n++) await h.runOnce(up);
    await h.processEnds();
    const explanation = await h.engine.explanations.job("default", { id: down });
    expect(explanation.outcomes).toMatchObject([{ reason: "overlap", count: 1 }]);
    expect(explanation.run?.explanation.code).toBe("no_worker_for_task");
  });

  it("says how the newest run ended if none is live, with the first line of its error", async () => {
    const id = await h.upstream();
    const error = { type: "HttpError", message: "answered 503\nand a page of HTML", retryable: true };
    await h.runOnce(id, { status: "failed", reason: "handler_error", error });
    const { run } = await h.engine.explanations.job("default", { id });
    expect(run?.explanation).toMatchObject({
      code: "ended",
      detail: expect.stringMatching(
        new RegExp(`^failed at ${time} \\(handler_error\\), attempt 1 of 5: HttpError: answered 503$`),
      ) as string,
      facts: { status: "failed" },
    });
  });
});
