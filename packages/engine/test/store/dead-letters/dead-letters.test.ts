import { NonRetryableError } from "@carillon/worker";
import type { JobSpec } from "@carillon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/index.js";
import { EngineHarness } from "../../harness/engine-harness.js";

let h: EngineHarness;
let engine: Engine;
let isBroken = true;
const seen: unknown[] = [];
beforeEach(async () => {
  isBroken = true;
  seen.splice(0);
  h = await EngineHarness.create();
  engine = await h.startNode();
  await h.startWorker(engine, {
    name: "work",
    run: (payload) => {
      seen.push(payload);
      if (isBroken) throw new NonRetryableError(`no mail for ${String((payload as { n: number } | null)?.n)}`);
      return "sent";
    },
  });
});
afterEach(() => h.close());

const context = { actor: "ann" };
const spec = (over: Partial<JobSpec> = {}): JobSpec => ({
  task: "work",
  queue: "default",
  priority: 4,
  payload: null,
  schedule: { kind: "at", at: Date.now() - 1_000 },
  policy: {},
  labels: {},
  ...over,
});

async function fail(...payloads: readonly unknown[]): Promise<string[]> {
  const ended = h.countEnds() + payloads.length;
  const ids: string[] = [];
  for (const payload of payloads) ids.push((await engine.jobs.create("default", spec({ payload }))).id);
  await h.until(() => h.countEnds() === ended);
  return ids;
}

const letters = async (filter = {}) =>
  (await engine.deadLetters.list("default", filter, { pageSize: 100 })).rows.map((run) => run.id);

describe("a dead letter", () => {
  it("is a run that failed for good, and is found by task, queue, error group and time", async () => {
    const [first = "", second = ""] = await fail({ n: 1 }, { n: 2 });
    expect(await letters()).toEqual([second, first]);
    const { error, finishedAt } = (await engine.runs.get("default", first)) ?? {};
    const fingerprint = error?.fingerprint ?? "";
    expect(fingerprint).toMatch(/^[0-9a-f]{16}$/);
    expect(await letters({ task: "work", queue: "default", fingerprint })).toEqual([second, first]);
    expect(await letters({ jobId: first })).toEqual([first]);
    expect(await letters({ failedFrom: (finishedAt ?? 0) + 60_000 })).toEqual([]);
    expect(await letters({ failedBefore: (finishedAt ?? 0) + 60_000 })).toEqual([second, first]);
    for (const other of [{ task: "other" }, { queue: "other" }, { fingerprint: "0" }])
      expect(await letters(other)).toEqual([]);
  });

  it("is listed in pages", async () => {
    const ids = await fail(1, 2, 3);
    const first = await engine.deadLetters.list("default", {}, { pageSize: 2 });
    const rest = await engine.deadLetters.list("default", {}, { pageSize: 2, after: first.next ?? "" });
    expect([...first.rows, ...rest.rows].map((run) => run.id)).toEqual(ids.toReversed());
    expect(rest.next).toBeNull();
  });

  it("is retried as a new run of the same job, and does not change [INV-4]", async () => {
    const [id = ""] = await fail({ n: 7 });
    isBroken = false;
    const { run, isNew } = await engine.deadLetters.retryRun("default", id, {}, context);
    expect(isNew).toBe(true);
    expect(run).toMatchObject({ jobId: id, trigger: { kind: "retry", id }, payload: { n: 7 } });
    await h.until(() => h.countEnds() === 2);
    expect(await engine.runs.get("default", run.id)).toMatchObject({ status: "succeeded", output: "sent" });
    expect(await engine.runs.get("default", id)).toMatchObject({ status: "failed", attempt: 1 });
    expect(await engine.deadLetters.redrivesOf("default", id)).toMatchObject([
      { kind: "retry", runId: run.id, actor: "ann" },
    ]);
    expect(await letters()).toEqual([]);
    expect(seen).toEqual([{ n: 7 }, { n: 7 }]);
  });

  it("is retried once, however many callers retry it [INV-1]", async () => {
    const [id = ""] = await fail({ n: 1 });
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => engine.deadLetters.retryRun("default", id, {}, context)),
    );
    expect(new Set(asked.map(({ run }) => run.id)).size).toBe(1);
    expect(asked.filter((one) => one.isNew)).toHaveLength(1);
    const again = await engine.deadLetters.retryRun("default", id, {}, context);
    expect(again).toMatchObject({ isNew: false, run: { id: asked[0]?.run.id } });
    await h.until(() => h.countEnds() === 2);
    expect(seen).toHaveLength(2);
  });

  it("has a retry that becomes a dead letter too when it fails, and can be retried", async () => {
    const [id = ""] = await fail(null);
    const { run } = await engine.deadLetters.retryRun("default", id, {}, context);
    await h.until(() => h.countEnds() === 2);
    expect(await letters()).toEqual([run.id]);
    const next = await engine.deadLetters.retryRun("default", run.id, {}, context);
    expect(next.run.trigger).toMatchObject({ kind: "retry", id: run.id });
  });

  it("follows the overlap policy of its job, and does not change if that refuses the retry", async () => {
    const manual = spec({ schedule: { kind: "manual" } });
    const { id: jobId } = await engine.jobs.create("default", manual);
    const failed = await engine.jobs.runNow("default", { id: jobId }, {}, context);
    await h.until(() => h.countEnds() === 1);
    const elsewhere = { queue: "unserved", force: true };
    await engine.jobs.runNow("default", { id: jobId }, elsewhere, context);
    const refused = engine.deadLetters.retryRun("default", failed.id, {}, context);
    await expect(refused).rejects.toMatchObject({ code: "overlap_refused" });
    expect(await engine.deadLetters.redrivesOf("default", failed.id)).toEqual([]);
    const forced = await engine.deadLetters.retryRun("default", failed.id, { force: true }, context);
    expect(forced.isNew).toBe(true);
  });

  it("can be discarded, which a retry undoes", async () => {
    const [id = "", other = ""] = await fail(1, 2);
    await engine.deadLetters.discardRun("default", id, context);
    await engine.deadLetters.discardRun("default", id, context);
    expect(await letters()).toEqual([other]);
    expect(await engine.deadLetters.redrivesOf("default", id)).toMatchObject([{ kind: "discard", runId: null }]);
    const { run, isNew } = await engine.deadLetters.retryRun("default", id, {}, context);
    expect(isNew).toBe(true);
    expect(await engine.deadLetters.redrivesOf("default", id)).toMatchObject([{ kind: "retry", runId: run.id }]);
  });

  it("cannot be a run that is live or succeeded, which cannot be retried", async () => {
    isBroken = false;
    const [id = ""] = await fail(1);
    const later = await engine.jobs.create("default", spec({ schedule: { kind: "at", at: Date.now() + 60_000 } }));
    const retry = (run: string) => engine.deadLetters.retryRun("default", run, {}, context);
    await expect(retry(id)).rejects.toMatchObject({ code: "run_not_failed" });
    await expect(engine.deadLetters.discardRun("default", id, context)).rejects.toMatchObject({
      code: "run_not_failed",
    });
    await expect(retry(later.id)).rejects.toMatchObject({ code: "run_live" });
    await expect(retry("01900000-0000-7000-8000-000000000000")).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("dead letters by filter", () => {
  it("are retried in pages, each by itself: one that cannot be retried is reported and does not stop the others", async () => {
    const ids = await fail(1, 2, 3);
    isBroken = false;
    const { id: jobId } = await engine.jobs.create("default", spec({ schedule: { kind: "manual" } }));
    isBroken = true;
    const stuck = await engine.jobs.runNow("default", { id: jobId }, {}, context);
    await h.until(() => h.countEnds() === 4);
    await engine.jobs.runNow("default", { id: jobId }, { queue: "unserved" }, context);
    isBroken = false;
    const first = await engine.deadLetters.redrive("default", {}, { pageSize: 2 }, context);
    const rest = await engine.deadLetters.redrive("default", {}, { pageSize: 2, after: first.next ?? "" }, context);
    const results = [...first.rows, ...rest.rows];
    expect(results.map((one) => one.id)).toEqual([stuck.id, ...ids.toReversed()]);
    expect(results[0]?.error).toMatchObject({ code: "overlap_refused" });
    expect(results.slice(1).every((one) => one.runId !== undefined)).toBe(true);
    await h.until(() => h.countEnds() === 7);
    expect(await letters()).toEqual([stuck.id]);
  });

  it("are discarded in pages", async () => {
    const ids = await fail(1, 2, 3);
    const page = await engine.deadLetters.discard("default", { task: "work" }, { pageSize: 2 }, context);
    expect(page.rows).toHaveLength(2);
    expect(await letters()).toEqual([ids[0]]);
  });
});

describe("a replay", () => {
  it("makes another run like an ended one with every call, with another payload on request [INV-1]", async () => {
    isBroken = false;
    const [id = ""] = await fail({ n: 1 });
    const same = await engine.deadLetters.replayRun("default", id, {}, context);
    await h.until(() => h.countEnds() === 2);
    const other = await engine.deadLetters.replayRun("default", id, { payload: { value: null } }, context);
    await h.until(() => h.countEnds() === 3);
    expect(seen).toEqual([{ n: 1 }, { n: 1 }, null]);
    expect(same.trigger).toEqual(other.trigger);
    expect(same.trigger).toMatchObject({ kind: "replay", id });
    expect((await engine.deadLetters.redrivesOf("default", id)).map((one) => one.runId)).toEqual([same.id, other.id]);
    const found = await h.database.query({
      text: `select 1 from carillon.run_history group by job_id, nominal_at, trigger having count(*) > 1`,
    });
    expect(found.rowCount).toBe(0);
  });
});

describe("error groups", () => {
  it("are counted over runs and attempts, with first and last time, task and an example run", async () => {
    const ids = await fail({ n: 1 }, { n: 22 }, { n: 333 });
    for (;;) {
      const { rows } = await engine.deadLetters.listErrorGroups("default", {}, { pageSize: 10 });
      if ((rows[0]?.count ?? 0) < 3) continue;
      expect(rows).toHaveLength(1);
      const [group] = rows;
      expect(group).toMatchObject({ type: "NonRetryableError", message: "no mail for <n>", tasks: ["work"], count: 3 });
      expect(ids).toContain(group?.sampleRunId);
      expect(group?.lastSeenAt).toBeGreaterThanOrEqual(group?.firstSeenAt ?? Number.POSITIVE_INFINITY);
      expect(await engine.deadLetters.getErrorGroup("default", group?.fingerprint ?? "")).toEqual(group);
      expect(await letters({ fingerprint: group?.fingerprint })).toHaveLength(3);
      break;
    }
    expect((await engine.deadLetters.listErrorGroups("default", { task: "other" }, { pageSize: 10 })).rows).toEqual([]);
    expect(await engine.deadLetters.getErrorGroup("default", "0")).toBeNull();
  });
});
