import { type CompiledSchedule, type EverySchedule, type JobSpec, compileSchedule } from "@carillon/core";
import type { LockedJob } from "@carillon/store";
import { describe, expect, it } from "vitest";
import { applyCancel } from "../../../src/jobs/change/job-canceller.js";
import { applyEdit } from "../../../src/jobs/change/job-editor.js";
import { applyPause, applyResume } from "../../../src/jobs/change/job-pauser.js";
import { specOf } from "../../../src/jobs/job-definition.js";
import { JobDraft } from "../../../src/jobs/transaction/job-draft.js";
import { processDue } from "../../../src/jobs/transaction/process-due.js";
import type { DueRules } from "../../../src/schedules/due-rules.js";

const id = "0198a0f0-0000-7000-8000-000000000001";
const hour = 3_600_000;
const noon = Date.UTC(2026, 5, 1, 12);
const hourly: EverySchedule = { kind: "every", everyMs: hour, anchor: noon - 100 * hour };
const jittered: EverySchedule = { ...hourly, jitterMs: 30 * 60_000 };

const compile = (schedule: EverySchedule): CompiledSchedule => compileSchedule(schedule, { jobId: id, checked: true });
const jitter = compile(jittered).jitterAt(noon);

function jobAt(now: number, schedule: EverySchedule): LockedJob {
  const fireAt = noon + compile(schedule).jitterAt(noon);
  return {
    id,
    namespaceId: 1,
    shard: 1,
    lane: 1,
    key: null,
    task: "echo",
    queue: "default",
    priority: 4,
    payload: "old",
    schedule,
    policy: {},
    firing: {},
    labels: {},
    owner: null,
    createdAt: noon - 10 * hour,
    updatedAt: noon - 10 * hour,
    definedAt: null,
    pause: null,
    endedAt: null,
    windows: 0,
    now,
    due: {
      class: 1,
      state: "active",
      version: 1,
      nominal: noon,
      fireAt,
      firedThrough: noon - hour,
      firedCount: 5,
      maxRuns: null,
      overlap: "skip",
      runsMade: 5,
      runIds: [],
      ledgerFrom: null,
      ledgerReason: null,
      catchUpTo: null,
      stateReason: null,
    },
  };
}

const rules: Pick<DueRules, "revision" | "windowAt"> = { revision: 0, windowAt: () => () => null };

type Apply = (draft: JobDraft, old: CompiledSchedule) => void;

function editTo(over: Partial<JobSpec>): Apply {
  return (draft, old) => {
    const spec = { ...specOf(draft.job), ...over };
    const compiled = spec.schedule.kind === "every" ? compile(spec.schedule) : old;
    applyEdit(draft, old, { spec, lane: 1, compiled });
  };
}

const pause: Apply = (draft) => void applyPause(draft, { reason: null, until: null, missed: "none" }, null);
const cancel: Apply = (draft, old) => void applyCancel(draft, old, { running: "signal" });
const changes: readonly (readonly [string, Apply])[] = [
  ["a pause", pause],
  ["an edit", editTo({ payload: "new" })],
  ["an edit to a rule with the same instant", editTo({ schedule: { ...hourly, everyMs: hour / 2 } })],
  ["an edit to a rule without it", editTo({ schedule: { ...hourly, anchor: hourly.anchor + 60_000 } })],
  ["a cancellation", cancel],
];

function changed(now: number, apply: Apply, schedule = hourly): JobDraft {
  const draft = new JobDraft(jobAt(now, schedule), []);
  if (draft.isDue) processDue(draft, compile(schedule), rules);
  apply(draft, compile(schedule));
  return draft;
}

const nominals = (draft: JobDraft): number[] => draft.runs.map((run) => run.nominal);

describe.each(changes)("%s of a job", (_name, apply) => {
  it("makes no run of an instant that is a millisecond ahead, and does not lose it [INV-5] [INV-11]", () => {
    const draft = changed(noon - 1, apply);
    expect(nominals(draft)).toEqual([]);
    expect(draft.entries).toEqual([]);
    expect(draft.due.firedThrough).toBe(noon - hour);
    expect(draft.due.nominal ?? noon).toBeGreaterThanOrEqual(noon);
  });

  it.each([0, 1, 59_999])(
    "makes the run of an instant that is %i ms ago before the change, once, and continues after it [INV-1] [INV-11]",
    (ms) => {
      const draft = changed(noon + ms, apply);
      expect(nominals(draft)).toEqual([noon]);
      expect(draft.entries).toEqual([]);
      expect(draft.due.firedThrough).toBe(noon);
      expect(draft.due.nominal ?? Number.POSITIVE_INFINITY).toBeGreaterThan(noon + ms);
    },
  );
});

describe("within the jitter of an instant", () => {
  const within = noon + Math.floor(jitter / 2);

  it("leaves time for a change within the jitter of an instant", () => {
    expect(jitter).toBeGreaterThan(1_000);
  });

  it("keeps an occurrence within its jitter when an edit does not change the rule [INV-11]", () => {
    const draft = changed(within, editTo({ payload: "new" }), jittered);
    expect(draft.due).toMatchObject({ nominal: noon, fireAt: noon + jitter });
    expect([nominals(draft), draft.entries]).toEqual([[], []]);
  });

  it("fires an occurrence within its jitter under a new rule that names it too [INV-11]", () => {
    const draft = changed(within, editTo({ schedule: { ...jittered, endsAt: noon + 10 * hour } }), jittered);
    expect(draft.due).toMatchObject({ nominal: noon, fireAt: noon + jitter, firedThrough: noon - hour });
    expect([nominals(draft), draft.entries]).toEqual([[], []]);
  });

  it("adds an occurrence within its jitter to the ledger when a new rule does not name it, and when the job is cancelled [INV-11]", () => {
    const moved = { ...hourly, anchor: hourly.anchor + 60_000 };
    for (const apply of [editTo({ schedule: moved }), cancel]) {
      const draft = changed(within, apply, jittered);
      expect(draft.entries).toMatchObject([{ reason: "superseded", from: noon, to: noon, count: 1, version: 1 }]);
      expect(draft.due.firedThrough).toBe(noon);
    }
  });

  it("counts an occurrence within its jitter as part of a pause once its time has come [INV-11]", () => {
    for (const [now, missed] of [
      [noon + jitter - 1, 0],
      [noon + jitter, 1],
    ] as const) {
      const before = changed(within, pause, jittered);
      const stored = { reason: null, actor: null, at: within, until: null, missed: "none", after: noon - 1 } as const;
      const draft = new JobDraft({ ...before.job, now, pause: stored, due: before.due }, []);
      expect(applyResume(draft, compile(jittered), "none")).toBe(missed);
      expect(draft.entries).toHaveLength(missed);
      expect(draft.due.nominal).toBe(missed === 0 ? noon : noon + hour);
    }
  });
});
