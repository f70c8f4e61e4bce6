import { CarillonError, formatId } from "@carillon/core";
import type { CancelRequest } from "../job-changes.js";
import type { Settled, SettlerStore } from "../transaction/settler.js";
import type { LockedJob, Queryable } from "@carillon/store";
import { RunReader } from "../../runs/run-reader.js";
import { applyCancel } from "./apply-cancel.js";
import type { Applied, Subject } from "./change.js";
import type { ChangeTransaction } from "./change-transaction.js";
import type { JobRef, ChangeContext } from "../../requests.js";

export interface JobEndingsOptions {
  readonly transaction: ChangeTransaction;
  readonly store: Pick<SettlerStore, "settle" | "settler" | "changes" | "readsOver" | "backfills" | "dependencies">;
  readonly patienceMs: number;
  readonly onStopped: (stopped: Settled["stopped"]) => void;
  /** Waiting runs ended that no settlement tells of. */
  readonly onEnded: (ended: Settled["ended"]) => void;
}

const reason = "cancelled_by_job";
/** Waiting runs that one transaction ends. */
const mostEnded = 5_000;
/** Jobs that a refusal names. */
const mostNamed = 10;

const nothing: Pick<Settled, "stopped" | "ended"> = { stopped: [], ended: [] };

/** Cancels jobs. Answers the job's id; a job that is cancelled already is answered as it is. */
export class JobEndings {
  readonly #options: JobEndingsOptions;

  constructor(options: JobEndingsOptions) {
    this.#options = options;
  }

  async cancel(namespaceId: number, ref: JobRef, request: CancelRequest, context: ChangeContext): Promise<string> {
    const { transaction } = this.#options;
    if ("id" in ref && (await this.#cancelRun(namespaceId, ref.id, request, context))) return ref.id;
    for (;;) {
      const { jobId, result } = await transaction.run(namespaceId, ref, context, {
        settles: true,
        takesEnded: true,
        apply: (subject) => this.#apply(subject, request),
      });
      if (result === "done") return jobId;
      this.#options.onEnded(result);
    }
  }

  /**
   * A job with more waiting runs than one transaction should end loses them in parts, and is cancelled in the last: who
   * asked hears of it then, or asks again.
   */
  async #apply({ tx, draft, schedule }: Subject, request: CancelRequest): Promise<Applied<"done" | Settled["ended"]>> {
    const { settler, backfills } = this.#options.store;
    const { id, endedAt } = draft.job;
    if (endedAt !== null) return { result: "done", patch: null };
    await this.#detach(tx, draft.job, request);
    await backfills.abortOfJob(tx, id, "job_cancelled");
    const waiting = await settler.reads.holdUntracked(tx, id, mostEnded);
    if (waiting.length > 0) {
      const ends = waiting.map((runId) => ({ id: runId, reason }));
      const ended = await settler.writes.endRuns(tx, ends);
      if (ended.length < ends.length)
        throw new Error(`${ended.length} of ${ends.length} runs ended that this transaction holds`);
      return { result: ended, patch: null };
    }
    await settler.learnLive(tx, draft, { hold: true });
    return { result: "done", patch: applyCancel(draft, schedule, request) };
  }

  /** Who waits for the job keeps it from ending, or waits no longer. */
  async #detach(tx: Queryable, { id }: LockedJob, { dependants }: CancelRequest): Promise<void> {
    const { dependencies } = this.#options.store;
    const waiting = (await dependencies.neighbours(tx, id, mostNamed)).filter((one) => one.side === "downstream");
    if (waiting.length === 0) return;
    if (dependants !== "detach") {
      const names = waiting.map((one) => one.key ?? formatId("job", one.jobId));
      throw new CarillonError(
        "job_has_dependants",
        `${names.join(", ")} ${waiting.length === 1 ? "waits" : "wait"} for this job: change or cancel that first, or ask to detach`,
      );
    }
    await dependencies.detach(tx, id);
  }

  /** A one-off job that is its run alone ends with it, where it stands; false when there is no such job. */
  async #cancelRun(
    namespaceId: number,
    id: string,
    request: CancelRequest,
    { ifVersion }: ChangeContext,
  ): Promise<boolean> {
    const { settle, settler, changes } = this.#options.store;
    const done = await settle(async (tx) => {
      await settler.reads.bePatient(tx, this.#options.patienceMs);
      if (await this.#isStored(tx, id)) return null;
      const state = await changes.holdRun(tx, namespaceId, id);
      if (await this.#isStored(tx, id)) return null;
      if (state === null) return (await this.#hasEnded(tx, namespaceId, id)) ? nothing : null;
      if (ifVersion !== undefined && ifVersion !== 1)
        throw new CarillonError("precondition_failed", `the job has version 1 and the change asks for ${ifVersion}`);
      if (state !== "running") return { ...nothing, ended: await settler.writes.endRuns(tx, [{ id, reason }]) };
      if (request.running !== "signal") return nothing;
      return { ...nothing, stopped: await settler.writes.stopRuns(tx, [{ id, reason }]) };
    });
    if (done === null) return false;
    if (done.stopped.length > 0) this.#options.onStopped(done.stopped);
    this.#options.onEnded(done.ended);
    return true;
  }

  /** A one-off job whose run is over is over with it. */
  async #hasEnded(tx: Queryable, namespaceId: number, id: string): Promise<boolean> {
    const run = await new RunReader(this.#options.store.readsOver(tx)).find(namespaceId, id);
    return run !== null && run.jobId === id && run.finishedAt !== null;
  }

  async #isStored(tx: Queryable, id: string): Promise<boolean> {
    return (await this.#options.store.settler.reads.lock(tx, [id])).length > 0;
  }
}
