import { CarillonError, type CompiledSchedule, type Instant, type MissedChoice, transitionJob } from "@carillon/core";
import type { Fence, JobChangeStore, JobTouch, LockedJob, NextTime, Queryable, StoredPause } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { UpstreamEnds } from "../../dependencies/upstream-ends.js";
import type { ChangeContext, JobRef } from "../../requests.js";
import type { DueRules } from "../../schedules/due-rules.js";
import { nextAfter } from "../../schedules/plan-due.js";
import { usesCalendars } from "../../schedules/schedule-calendars.js";
import type { PauseRequest, ResumeRequest } from "../job-requests.js";
import { countInPause, latestInPause } from "../pause-end.js";
import type { JobDraft } from "../transaction/job-draft.js";
import { emitApplied, type JobUnitOfWork } from "../transaction/job-unit-of-work.js";
import { noteRest, noteThrough } from "../transaction/process-due.js";
import type { ChangeTransaction, JobPatch } from "./change-transaction.js";

export interface JobPauserDeps {
  readonly transaction: ChangeTransaction;
  readonly rules: DueRules;
  readonly upstreamEnds: Pick<UpstreamEnds, "release" | "countPending">;
}

/** Pauses and resumes jobs at a caller's request. */
export class JobPauser {
  readonly #deps: JobPauserDeps;

  constructor(deps: JobPauserDeps) {
    this.#deps = deps;
  }

  async pause(namespaceId: number, ref: JobRef, request: PauseRequest, context: ChangeContext): Promise<string> {
    const changed = await this.#deps.transaction.run(namespaceId, ref, context, {
      processesDue: true,
      apply: ({ draft }) => ({ result: undefined, patch: applyPause(draft, request, context.actor) }),
    });
    return changed.jobId;
  }

  async resume(
    namespaceId: number,
    ref: JobRef,
    request: ResumeRequest,
    context: ChangeContext,
  ): Promise<{ readonly id: string; readonly missed: number }> {
    const changed = await this.#deps.transaction.run(namespaceId, ref, context, {
      processesDue: false,
      apply: async ({ tx, draft }) => {
        const { pause } = draft.job;
        if (draft.due.state !== "paused" || pause === null) return { result: 0, patch: null };
        const choice = request.missed ?? pause.missed;
        const missedCount = applyResume(draft, this.#schedule(draft.job), choice);
        const ends = await this.#deps.upstreamEnds.release(tx, draft, choice);
        return { result: missedCount + ends, patch: { pause: null, endedAt: null } };
      },
    });
    return { id: changed.jobId, missed: changed.result };
  }

  /** How many occurrences, or upstream ends, the job has missed since it was paused. */
  async countMissed(job: LockedJob): Promise<number> {
    if (job.due.state !== "paused" || job.pause === null) return 0;
    if (job.schedule.kind === "after") return this.#deps.upstreamEnds.countPending(job.id);
    return countInPause(this.#schedule(job), job.pause, job.now);
  }

  #schedule({ id: jobId, namespaceId, schedule }: LockedJob): CompiledSchedule {
    return this.#deps.rules.compile({ jobId, namespaceId, schedule });
  }
}

/** Stops the fires of a job whose due occurrences are decided. null: the job has ended or completed. */
export function applyPause(draft: JobDraft, request: PauseRequest, actor: string | null): JobPatch | null {
  const { now, pause: before } = draft.job;
  const { reason, until, missed } = request;
  if (until !== null && until <= now)
    throw new CarillonError("field_invalid", `A pause until ${isoText(until)} would be over before it begins.`);
  const { state, nominal } = draft.due;
  if (state === "paused" && before !== null) {
    draft.set({ fireAt: until });
    return { pause: { ...before, reason, actor, until, missed }, endedAt: null };
  }
  const paused = transitionJob(state, "pause");
  if (!paused.ok) return null;
  const after = nominal === null ? now : nominal - 1;
  draft.set({ state: paused.state, nominal: null, fireAt: until, catchUpTo: null, stateReason: null });
  return { pause: { reason, actor, at: now, until, missed, after }, endedAt: null };
}

/** Lets a paused job fire again; returns how many occurrences were inside the pause. */
export function applyResume(draft: JobDraft, schedule: CompiledSchedule, missed: MissedChoice): number {
  const { pause, now } = draft.job;
  if (pause === null) throw new Error(`job ${draft.job.id} is paused without a pause`);
  const last = latestInPause(schedule, pause, now);
  const missedCount = countInPause(schedule, pause, now);
  const isTimed = draft.job.schedule.kind !== "manual" && draft.job.schedule.kind !== "after";
  let next: NextTime | null = nextAfter(schedule, last);
  let catchUpTo: Instant | null = null;
  const { maxRuns, firedCount } = draft.due;
  const isSpent = maxRuns !== null && firedCount >= maxRuns;
  if (missedCount > 0 && missed !== "none" && !isSpent) {
    const first = missed === "all" ? schedule.nextNominal(pause.after) : last;
    noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: first - 1 });
    next = { nominal: first, fireAt: first + schedule.jitterAt(first) };
    catchUpTo = last;
  } else noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: last });
  const isOver = isTimed && (next === null || isSpent);
  if (isOver && !isSpent) noteRest(draft, schedule);
  const resumed = transitionJob(draft.due.state, isOver ? "complete" : "resume");
  if (!resumed.ok) throw new Error(`job ${draft.job.id} is ${draft.due.state} and cannot be resumed`);
  const due = isOver ? null : next;
  draft.set({ state: resumed.state, nominal: due?.nominal ?? null, fireAt: due?.fireAt ?? null, catchUpTo });
  return missedCount;
}

function isoText(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** A paused job as the scheduler's wheel holds it. */
export interface ExpiredPause {
  readonly jobId: string;
  readonly version: number;
}

export type PauseExpiryContext = Pick<EngineContext, "emit"> & {
  readonly store: { readonly changes: Pick<JobChangeStore, "touch"> };
};

export interface PauseExpiryDeps {
  readonly unitOfWork: JobUnitOfWork;
  readonly rules: DueRules;
  readonly upstreamEnds: Pick<UpstreamEnds, "release">;
}

/** Ends the pauses whose time is over, for the scheduler: many jobs in one transaction, each with the choice of its pause. */
export class PauseExpiry {
  readonly #context: PauseExpiryContext;
  readonly #deps: PauseExpiryDeps;

  constructor(context: PauseExpiryContext, deps: PauseExpiryDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** Returns the jobs that are resumed, or whose pause has no end any more; the others changed, or another transaction holds them. */
  async resume(fence: Fence, expired: readonly ExpiredPause[]): Promise<string[]> {
    const { unitOfWork, rules } = this.#deps;
    const { resumed, applied } = await unitOfWork.transaction(async (tx) => {
      const locked = await unitOfWork.reads.lockExpired(tx, fence, expired);
      const drafts = await unitOfWork.open(tx, locked);
      if (drafts.some((draft) => this.#isOutdated(draft))) await rules.refresh();
      const touches = drafts.map((draft) => this.#expire(draft));
      for (const draft of drafts) await this.#release(tx, draft);
      const written = await unitOfWork.write(tx, drafts);
      await this.#context.store.changes.touch(tx, touches);
      return { resumed: locked, applied: written };
    });
    emitApplied(applied, this.#context.emit);
    return resumed;
  }

  /** A job that waits for others receives the upstream ends that it missed, by the choice of its pause. */
  async #release(tx: Queryable, draft: JobDraft): Promise<void> {
    const { pause } = draft.job;
    if (draft.due.state !== "active" || pause === null) return;
    await this.#deps.upstreamEnds.release(tx, draft, pause.missed);
  }

  #isOutdated({ job }: JobDraft): boolean {
    return usesCalendars(job.schedule) && job.windows !== this.#deps.rules.revision;
  }

  #expire(draft: JobDraft): JobTouch {
    const { id, due, pause } = draft.job;
    const version = due.version + 1;
    const left = pause === null ? null : this.#tryResume(draft, pause);
    draft.set({ version, ledgerFrom: null, ledgerReason: null });
    return { id, expectedVersion: due.version, version, pause: left, endedAt: null };
  }

  /** A job whose rule can no longer be compiled stays paused, without an end, and its pause says why; the other jobs are resumed. */
  #tryResume(draft: JobDraft, pause: StoredPause): StoredPause | null {
    const { id: jobId, namespaceId, schedule } = draft.job;
    let compiled: CompiledSchedule;
    try {
      compiled = this.#deps.rules.compile({ jobId, namespaceId, schedule });
    } catch (error) {
      draft.set({ fireAt: null });
      const why = error instanceof Error ? error.message : String(error);
      return { ...pause, until: null, reason: `cannot be resumed: ${why}`, actor: "system" };
    }
    applyResume(draft, compiled, pause.missed);
    return null;
  }
}
