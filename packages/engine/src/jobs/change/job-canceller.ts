import { CarillonError, type CompiledSchedule, formatId, transitionJob } from "@carillon/core";
import type { LockedJob, Queryable } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { ChangeContext, JobRef } from "../../requests.js";
import { announceEnded } from "../../runs/run-events.js";
import { RunReader } from "../../runs/run-reader.js";
import type { CancelRequest } from "../job-requests.js";
import type { JobDraft } from "../transaction/job-draft.js";
import type { Applied, JobUnitOfWork } from "../transaction/job-unit-of-work.js";
import { closeRule, noteThrough, supersedePending } from "../transaction/process-due.js";
import type { ChangeResult, ChangeSubject, ChangeTransaction, JobPatch } from "./change-transaction.js";

export type JobCancellerContext = Pick<EngineContext, "emit" | "limits" | "store" | "wakeups">;

export interface JobCancellerDeps {
  readonly transaction: ChangeTransaction;
  readonly unitOfWork: JobUnitOfWork;
}

const reason = "cancelled_by_job";
/** Waiting runs that one transaction ends. */
const maxEnded = 5_000;
/** Jobs that an error names. */
const maxNamed = 10;

const nothing: Pick<Applied, "stopped" | "ended"> = { stopped: [], ended: [] };

/** Cancels jobs. Returns the job's id; a job that is cancelled already stays as it is. */
export class JobCanceller {
  readonly #context: JobCancellerContext;
  readonly #deps: JobCancellerDeps;

  constructor(context: JobCancellerContext, deps: JobCancellerDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  async cancel(namespaceId: number, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<string> {
    if ("id" in ref && (await this.#cancelRun(namespaceId, ref.id, request, context))) return ref.id;
    for (;;) {
      const { jobId, result } = await this.#deps.transaction.run(namespaceId, ref, context, {
        processesDue: true,
        acceptsEnded: true,
        apply: (subject) => this.#apply(subject, request),
      });
      if (result === "done") return jobId;
      announceEnded(result, "cancelled", this.#context.emit);
    }
  }

  /**
   * A job with more waiting runs than one transaction should end loses them in parts, and is cancelled with the last part: the caller gets the
   * answer then, or repeats the call.
   */
  async #apply(
    { tx, draft, schedule }: ChangeSubject,
    request: CancelRequest,
  ): Promise<ChangeResult<"done" | Applied["ended"]>> {
    const { unitOfWork } = this.#deps;
    const { id, endedAt } = draft.job;
    if (endedAt !== null) return { result: "done", patch: null };
    await this.#detach(tx, draft.job, request);
    await this.#context.store.backfills.abortOfJob(tx, id, "job_cancelled");
    const waiting = await unitOfWork.reads.holdUntracked(tx, id, maxEnded);
    if (waiting.length > 0) {
      const ends = waiting.map((runId) => ({ id: runId, reason }));
      const ended = await unitOfWork.writes.endRuns(tx, ends);
      if (ended.length < ends.length)
        throw new Error(`${ended.length} of ${ends.length} runs ended that this transaction holds`);
      return { result: ended, patch: null };
    }
    await unitOfWork.readLive(tx, draft, { hold: true });
    return { result: "done", patch: applyCancel(draft, schedule, request) };
  }

  /** Jobs that wait for this one prevent the cancellation, or stop waiting for it. */
  async #detach(tx: Queryable, { id }: LockedJob, { dependants }: CancelRequest): Promise<void> {
    const { dependencies } = this.#context.store;
    const waiting = (await dependencies.neighbours(tx, id, maxNamed)).filter((one) => one.side === "downstream");
    if (waiting.length === 0) return;
    if (dependants !== "detach") {
      const names = waiting.map((one) => one.key ?? formatId("job", one.jobId));
      throw new CarillonError(
        "job_has_dependants",
        `Jobs wait for this one (${names.join(", ")}): change or cancel them first, or cancel with detach.`,
      );
    }
    await dependencies.detach(tx, id);
  }

  /** A one-off job that is stored as its run alone ends with its run; false when there is no such job. */
  async #cancelRun(
    namespaceId: number,
    id: string,
    request: CancelRequest,
    { ifVersion }: ChangeContext,
  ): Promise<boolean> {
    const { limits, store, wakeups, emit } = this.#context;
    const { reads, writes, transaction } = this.#deps.unitOfWork;
    const done = await transaction(async (tx) => {
      await reads.setLockTimeout(tx, limits.changeLockTimeoutMs);
      if (await this.#isStored(tx, id)) return null;
      const state = await store.changes.holdRun(tx, namespaceId, id);
      if (await this.#isStored(tx, id)) return null;
      if (state === null) return (await this.#hasEnded(tx, namespaceId, id)) ? nothing : null;
      if (ifVersion !== undefined && ifVersion !== 1)
        throw new CarillonError("precondition_failed", `The job has version 1, not ${ifVersion}.`);
      if (state !== "running") return { ...nothing, ended: await writes.endRuns(tx, [{ id, reason }]) };
      if (request.running !== "signal") return nothing;
      return { ...nothing, stopped: await writes.stopRuns(tx, [{ id, reason }]) };
    });
    if (done === null) return false;
    if (done.stopped.length > 0) wakeups.broadcast("stops");
    announceEnded(done.ended, "cancelled", emit);
    return true;
  }

  /** A one-off job has ended when its run has. */
  async #hasEnded(tx: Queryable, namespaceId: number, id: string): Promise<boolean> {
    const run = await new RunReader(this.#context.store.readsOver(tx)).find(namespaceId, id);
    return run !== null && run.jobId === id && run.finishedAt !== null;
  }

  async #isStored(tx: Queryable, id: string): Promise<boolean> {
    return (await this.#deps.unitOfWork.reads.lock(tx, [id])).length > 0;
  }
}

/** Ends a job for good, with its runs locked. null: it had ended before. */
export function applyCancel(
  draft: JobDraft,
  schedule: CompiledSchedule | null,
  request: CancelRequest,
): JobPatch | null {
  const cancelled = transitionJob(draft.due.state, "cancel");
  if (!cancelled.ok) return null;
  noteOutstanding(draft, schedule);
  draft.end(reason, { keepRunning: request.running === "keep" });
  draft.set({ state: cancelled.state, nominal: null, fireAt: null, catchUpTo: null, stateReason: null });
  return { pause: null, endedAt: draft.job.now };
}

/** Occurrences inside a pause and due ones that still wait will never be decided: they go to the ledger. */
function noteOutstanding(draft: JobDraft, schedule: CompiledSchedule | null): void {
  const { pause, now } = draft.job;
  supersedePending(draft, schedule);
  if (schedule === null) return;
  if (draft.due.state === "paused" && pause !== null)
    noteThrough(draft, schedule, { reason: "paused", after: pause.after, through: now });
  closeRule(draft, schedule);
}
