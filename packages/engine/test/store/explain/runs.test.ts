import { formatId, type JobSpec, requirementsOf } from "@carillon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { limitText } from "../../../src/limits/limit-text.js";
import type { RunExplanation } from "../../../src/index.js";
import { type AfterHarness, afterHarness } from "../../harness/after-harness.js";
import { actor, spec } from "../../harness/change-harness.js";
import { gatewayOver } from "../../harness/gateway-harness.js";

let h: AfterHarness;
beforeAll(async () => {
  h = await afterHarness();
});
afterAll(() => h.close());

const explain = async (id: string): Promise<RunExplanation | undefined> =>
  (await h.api.explainRun("default", id))?.explanation;
const make = async (over: Partial<JobSpec> = {}, n = 1): Promise<string[]> => {
  const { id } = await h.api.createJob("default", spec({ firing: { overlap: "allow" }, ...over }));
  const ids: string[] = [];
  for (let made = 0; made < n; made++) ids.push((await h.api.runNow("default", { id }, {}, actor)).id);
  return ids;
};
/** A worker that takes whatever there is, and never gets to it. */
async function workerOf(task: string, queue: string): Promise<void> {
  const { gateway } = gatewayOver(h);
  await gateway.open({
    namespace: "default",
    name: "w",
    queues: [queue],
    tasks: [task],
    slots: 1,
    nodeId: null,
    onAssign: () => undefined,
    onStop: () => undefined,
    onLost: () => undefined,
  });
  gateway.stop();
}

describe("explain says of a run", () => {
  it("when it is due, while it waits for its time", async () => {
    const at = h.db.clock.now() + 180_500;
    const { id } = await h.api.createJob("default", spec({ schedule: { kind: "at", at } }));
    expect(await explain(id)).toMatchObject({
      code: "due_later",
      detail: expect.stringMatching(/^due in 3m(1s)?, at /) as string,
      until: Math.floor(at),
    });
  });

  it("which retry comes when", async () => {
    const [id = ""] = await make();
    const text = `update carillon.run set state = 'retrying', attempt = 2, run_at = now() + interval '1 minute' where id = $1`;
    await h.select(text, id);
    const explanation = await explain(id);
    expect(explanation?.code).toBe("retry_later");
    expect(explanation?.detail).toMatch(/^retry 3 of \d+ at \d{4}-.*, in (59s|1m)$/);
  });

  it("that no worker serves its task", async () => {
    const [id = ""] = await make({ task: "pdf", queue: "unserved" });
    expect(await explain(id)).toMatchObject({
      code: "no_worker_for_task",
      detail: expect.stringContaining("pdf") as string,
    });
  });

  it("who paused its queue, when and why", async () => {
    const [id = ""] = await make({ queue: "mail" });
    await h.api.pauseQueue(
      "default",
      "mail",
      { reason: "provider is down", until: null },
      { actor: "ops@example.com" },
    );
    const explanation = await explain(id);
    expect(explanation?.code).toBe("queue_paused");
    expect(explanation?.detail).toMatch(/^queue mail is paused by ops@example.com since \d{4}-.*: provider is down$/);
  });

  it("its position among those that are queued", async () => {
    await workerOf("line", "line");
    const ids = await make({ task: "line", queue: "line" }, 3);
    const answers = await Promise.all(ids.map(explain));
    expect(answers.map((one) => one?.facts)).toEqual([1, 2, 3].map((position) => ({ queue: "line", position, of: 3 })));
    expect(answers[1]?.detail).toMatch(/^position 2 of 3 in queue line; due for /);
  });

  it("which limit is full, by how much, and who goes before it", async () => {
    const ids = await make({ queue: "limited" }, 2);
    const none = { perMs: null, burst: null, onFailure: null };
    const text = limitText([{ scope: "key", kind: "concurrency", name: "customer:42", limit: 5, ...none }], {
      namespaceId: 1,
      queue: "limited",
    });
    for (const id of ids)
      await h.select(
        "update carillon.run set state = 'blocked', state_reason = null, limits = $2 where id = $1",
        id,
        text,
      );
    await h.select(
      `insert into carillon.limit_key (namespace_id, scope, kind, name, most, defined_at, used)
       values (1, 'key', 'concurrency', 'customer:42', 5, now(), 5)`,
    );
    expect(await explain(ids[1] ?? "")).toMatchObject({
      code: "limit_concurrency",
      detail: 'key "customer:42": 5 of 5 are running; 1 that wait for the same go before it',
      facts: { key: "customer:42", used: 5, limit: 5, ahead: 1 },
    });
    await h.select("update carillon.limit_key set used = 4 where name = 'customer:42'");
    expect(await explain(ids[0] ?? "")).toMatchObject({ code: "limit_pending" });
  });

  it("that its breaker is open, until when and why", async () => {
    const [id = ""] = await make({
      task: "pay",
      queue: "pay",
      policy: { requires: requirementsOf({ breaker: null }) },
    });
    await h.select(
      `insert into carillon.breaker (namespace_id, name, state, reason, opened_at, probe_at, open_for_ms, updated_at)
       values (1, 'pay', 'open', '6 of 10 failed', now(), now() + interval '1 minute', 60000, now())`,
    );
    const explanation = await explain(id);
    expect(explanation?.code).toBe("breaker_open");
    expect(explanation?.detail).toMatch(/^breaker pay is open until .*, for (59s|1m) more: 6 of 10 failed$/);
  });

  it("which run of its job it waits for", async () => {
    const { id } = await h.api.createJob("default", spec({ firing: { overlap: "queue_all" } }));
    const [first, second] = [
      await h.api.runNow("default", { id }, {}, actor),
      await h.api.runNow("default", { id }, {}, actor),
    ];
    expect(await explain(second.id)).toMatchObject({
      code: "overlap",
      detail: `waits for ${formatId("run", first.id)} of the same job, which is queued; 1 of its runs go before it`,
    });
  });

  it("that it runs, and how it ended", async () => {
    const job = await h.upstream();
    const id = await h.begin(job);
    expect((await explain(id))?.detail).toMatch(/^attempt 1 of \d+ runs on wrk_/);
    await h.end(id);
    expect(await explain(id)).toMatchObject({
      code: "ended",
      detail: expect.stringMatching(/^succeeded at /) as string,
    });
  });

  it("nothing where there is none", async () => {
    expect(await h.api.explainRun("default", "0193e2c4-0000-7000-8000-000000000000")).toBeNull();
  });
});

describe("explain says of a job", () => {
  const about = (id: string) => h.api.explainJob("default", { id });

  it("when it fires", async () => {
    const at = h.db.clock.now() + 3_600_000;
    const { id } = await h.api.createJob("default", spec({ key: "soon", schedule: { kind: "at", at } }));
    expect(await about(id)).toMatchObject({
      code: "fires",
      detail: expect.stringMatching(/^fires in (1h|59m)/) as string,
    });
  });

  it("who paused it, until when, and what it missed", async () => {
    const id = await h.recurring();
    const until = h.db.clock.now() + 3_600_000;
    await h.api.pauseJob("default", { id }, { reason: "audit", until, missed: "none" }, { actor: "me" });
    expect(await about(id)).toMatchObject({
      code: "paused",
      until: Math.floor(until),
      detail: expect.stringMatching(/^paused by me since .*, until .*: audit$/) as string,
    });
  });

  it("what it waits for, and how much of it is met", async () => {
    const [a, b] = [await h.upstream({ key: "a" }), await h.upstream({ key: "b" })];
    const down = await h.waiting([
      { job: "a", on: "success" },
      { job: "b", on: "finish" },
    ]);
    await h.runOnce(a);
    await h.tell();
    expect(await about(down)).toMatchObject({
      code: "after",
      detail: "waits for b to end (1 of 2 are met)",
      facts: { met: 1, of: 2 },
    });
    expect(b).not.toBe(a);
  });

  it("what was left out lately, and what its newest run waits for", async () => {
    const up = await h.upstream();
    const down = await h.waiting([{ job: formatId("job", up), on: "success" }], { firing: { overlap: "skip" } });
    for (let n = 0; n < 2; n++) await h.runOnce(up);
    await h.tell();
    const explanation = await about(down);
    expect(explanation.outcomes).toMatchObject([{ reason: "overlap", count: 1 }]);
    expect(explanation.run?.explanation.code).toBe("no_worker_for_task");
  });

  it.each([
    ["manual", "it runs only when asked"],
    ["cancelled", "it is cancelled and fires no more"],
  ])("that it is %s", async (code, detail) => {
    const id = await h.upstream();
    if (code === "cancelled") await h.api.cancelJob("default", { id }, { running: "keep" }, actor);
    expect(await about(id)).toMatchObject({ code, detail });
  });
});
