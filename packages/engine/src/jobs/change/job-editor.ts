import {
  CarillonError,
  type CompiledSchedule,
  firingPolicy,
  type Instant,
  type JobSpec,
  refuseLongPast,
} from "@carillon/core";
import type { JobChangeStore, NextTime, StoredPause } from "@carillon/store";
import { priorityClass } from "../../catalog/rank-run.js";
import type { EngineContext } from "../../context.js";
import { checkConditions } from "../../dependencies/conditions.js";
import type { ChangeContext, JobRef } from "../../requests.js";
import type { DueRules } from "../../schedules/due-rules.js";
import { nextAfter } from "../../schedules/plan-due.js";
import type { JobCreator } from "../job-creator.js";
import { isSameSchedule, isSameSpec, specOf } from "../job-definition.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { JobUnitOfWork } from "../transaction/job-unit-of-work.js";
import { closeRule, noteEmptyRule, noteRemoved, noteThrough, supersedePending } from "../transaction/process-due.js";
import {
  type ChangeResult,
  type ChangeSubject,
  type ChangeTransaction,
  hasCode,
  type JobPatch,
} from "./change-transaction.js";

export type Edit = (current: JobSpec, now: Instant) => JobSpec;
export type Define = (current: JobSpec | null, now: Instant) => JobSpec;

export type JobEditorContext = Pick<EngineContext, "now"> & {
  readonly store: { readonly changes: Pick<JobChangeStore, "definitionOf"> };
};

export interface JobEditorDeps {
  readonly transaction: ChangeTransaction;
  readonly unitOfWork: JobUnitOfWork;
  readonly rules: DueRules;
  readonly creator: Pick<JobCreator, "create">;
}

/** Each failed try of an upsert lost to another caller that created or cancelled the job meanwhile. */
const maxUpsertTries = 20;

/** Replaces definitions of jobs. Each method returns the job's id. */
export class JobEditor {
  readonly #context: JobEditorContext;
  readonly #deps: JobEditorDeps;

  constructor(context: JobEditorContext, deps: JobEditorDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async edit(namespaceId: number, ref: JobRef, edit: Edit, context: ChangeContext): Promise<string> {
    const changed = await this.#deps.transaction.run(namespaceId, ref, context, {
      processesDue: true,
      apply: (subject) => this.#apply(subject, edit(specOf(subject.draft.job), subject.draft.job.now)),
    });
    return changed.jobId;
  }

  /** The definition that was in force as of a version becomes a new one. */
  async rollback(namespaceId: number, ref: JobRef, version: number, context: ChangeContext): Promise<string> {
    const { changes } = this.#context.store;
    const changed = await this.#deps.transaction.run(namespaceId, ref, context, {
      processesDue: true,
      apply: async (subject) => {
        const { job } = subject.draft;
        if (version < 1 || version > job.due.version) throw unknownVersion(version, job.due.version);
        const kept = await changes.definitionOf(subject.tx, job.id, version);
        const spec = kept ?? specOf(job);
        return this.#apply(subject, job.key === null ? spec : { ...spec, key: job.key });
      },
    });
    return changed.jobId;
  }

  /** Edits the job that has the key, or creates it. Of concurrent callers one creates, the others edit. */
  async upsert(
    namespaceId: number,
    key: string,
    define: Define,
    context: ChangeContext,
  ): Promise<{ readonly id: string; readonly created: boolean }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const edit: Edit = (current, now) => ({ ...define(current, now), key });
        return { id: await this.edit(namespaceId, { key }, edit, context), created: false };
      } catch (error) {
        if (!hasCode(error, "not_found") && !hasCode(error, "job_ended")) throw error;
      }
      if (context.ifVersion !== undefined)
        throw new CarillonError("precondition_failed", `There is no job ${JSON.stringify(key)} with a version.`);
      try {
        const spec = { ...define(null, this.#context.now()), key };
        return { id: (await this.#deps.creator.create(namespaceId, spec)).id, created: true };
      } catch (error) {
        if (!hasCode(error, "key_taken") || attempt >= maxUpsertTries) throw error;
      }
    }
  }

  async #apply({ tx, draft, schedule }: ChangeSubject, spec: JobSpec): Promise<ChangeResult<void>> {
    const isSame = isSameSpec(specOf(draft.job), spec);
    if (isSame && !(await this.#deps.transaction.isDetached(tx, draft.job))) return { result: undefined, patch: null };
    if (spec.schedule.kind === "after") checkConditions(spec.schedule);
    const { id: jobId, namespaceId, due } = draft.job;
    const { rules, transaction, unitOfWork } = this.#deps;
    const compiled = rules.compile({ jobId, namespaceId, schedule: spec.schedule });
    const lane = transaction.laneOf(draft.job.namespaceId, spec);
    const isToTrack = due.overlap === "allow" && firingPolicy(spec.firing ?? {}).overlap !== "allow";
    if (isToTrack) await unitOfWork.readLive(tx, draft, { hold: false });
    return { result: undefined, patch: applyEdit(draft, schedule, { spec, lane, compiled }) };
  }
}

function unknownVersion(version: number, newest: number): CarillonError {
  return new CarillonError("version_unknown", `The job has the versions 1 to ${newest}, not ${version}.`);
}

export interface NewRule {
  readonly spec: JobSpec;
  readonly lane: number;
  readonly compiled: CompiledSchedule;
}

/** Replaces the definition of a job whose due occurrences are decided. `old` is null if the old rule can no longer be compiled. */
export function applyEdit(draft: JobDraft, old: CompiledSchedule | null, rule: NewRule): JobPatch {
  const current = specOf(draft.job);
  const { spec, lane } = rule;
  if (spec.key !== current.key)
    throw new CarillonError("field_invalid", "A job keeps its key: create another job, or leave the key as it is.");
  let { pause } = draft.job;
  if (isSameSchedule(current, spec)) {
    if (draft.due.stateReason !== null) release(draft);
    if (old !== null) noteRemoved(draft, old);
  } else {
    refuseOldInstant(draft, spec);
    const isPaused = draft.due.state === "paused" && pause !== null;
    const isKept = !isPaused && keepPending(draft, old, rule);
    if (isPaused && pause !== null) pause = restartPause(draft, pause, old, rule);
    else if (!isKept) supersedePending(draft, old);
    if (old !== null) closeRule(draft, old);
    if (!isPaused && !isKept) startRule(draft, rule);
  }
  draft.set({
    class: priorityClass(spec.priority),
    maxRuns: "maxRuns" in spec.schedule ? (spec.schedule.maxRuns ?? null) : null,
  });
  const { overlap } = firingPolicy(spec.firing ?? {});
  if (overlap !== draft.due.overlap) draft.track(overlap);
  return { pause, endedAt: null, definition: { spec, lane } };
}

/** Adds the occurrences that the old rule lost to the pause to the ledger; from now on the pause counts those of the new rule. */
function restartPause(
  draft: JobDraft,
  pause: StoredPause,
  old: CompiledSchedule | null,
  { spec }: NewRule,
): StoredPause {
  const { now } = draft.job;
  if (old !== null) noteThrough(draft, old, { reason: "paused", after: pause.after, through: now });
  return { ...pause, after: decidedBy(draft, spec) };
}

/** A maintenance window may not cover the job any more: the next fire decides again, by the new queue and labels. */
function release(draft: JobDraft): void {
  draft.set({ fireAt: draft.due.nominal, stateReason: null });
}

/** A due occurrence that waits (held, or within its jitter) stays if it is the latest of both rules. */
function keepPending(draft: JobDraft, old: CompiledSchedule | null, { spec, compiled }: NewRule): boolean {
  const { state, nominal } = draft.due;
  const { now } = draft.job;
  if (old === null || state !== "active" || nominal === null || nominal > now || isSpent(draft, spec)) return false;
  const isOfBoth = compiled.nextNominal(nominal - 1) === nominal;
  const isLatest = [old, compiled].every((rule) => {
    const next = rule.nextNominal(nominal);
    return next === -1 || next > now;
  });
  if (isOfBoth && isLatest) draft.set({ fireAt: nominal + compiled.jitterAt(nominal), stateReason: null });
  return isOfBoth && isLatest;
}

/** Instants of a new rule up to here do not fire. */
function decidedBy(draft: JobDraft, { schedule }: JobSpec): Instant {
  return Math.max(draft.due.firedThrough ?? -1, schedule.kind === "at" ? schedule.at - 1 : draft.job.now);
}

function isSpent(draft: JobDraft, { schedule }: JobSpec): boolean {
  const maxRuns = "maxRuns" in schedule ? (schedule.maxRuns ?? null) : null;
  return maxRuns !== null && draft.due.firedCount >= maxRuns;
}

/** The new rule counts from now on: its own instants in the past do not fire. */
function startRule(draft: JobDraft, { spec, compiled }: NewRule): void {
  const { schedule } = spec;
  const next: NextTime | null = isSpent(draft, spec) ? null : nextAfter(compiled, decidedBy(draft, spec));
  const isTimed = schedule.kind !== "manual" && schedule.kind !== "after";
  const isForced = schedule.kind === "at" && spec.firing?.misfire === "run_once";
  const catchUpTo: Instant | null = isForced && next !== null ? schedule.at : null;
  draft.set({
    state: next === null && isTimed ? "completed" : "active",
    nominal: next?.nominal ?? null,
    fireAt: next?.fireAt ?? null,
    catchUpTo,
    stateReason: null,
  });
  if (next === null && !isSpent(draft, spec)) noteEmptyRule(draft, schedule, compiled);
}

/** The same check as for a new job, except for instants up to the last fire: the job does not fire those again. */
function refuseOldInstant(draft: JobDraft, spec: JobSpec): void {
  const { schedule, firing = {} } = spec;
  if (schedule.kind !== "at" || schedule.at <= (draft.due.firedThrough ?? -1)) return;
  const { catchupWindowMs } = firingPolicy(firing);
  refuseLongPast(schedule, firing, { now: draft.job.now, catchupWindowMs });
}
