import { CarillonError, formatId, type Instant, isFinal, type RunStatus } from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import type { RunReader } from "./run-reader.js";
import type { RunView } from "./run-view.js";
import type { RankRun } from "../catalog/rank-run.js";
import type { DueRun, EndingOfRuns, Queued, RunChangeStore } from "@carillon/store";

export interface RunChangerOptions {
  readonly changes: RunChangeStore;
  readonly runs: Pick<RunReader, "find">;
  readonly rank: RankRun;
  readonly onQueued: (queued: readonly Queued[]) => void;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  /** Workers hold runs that are to stop. */
  readonly onStopped: () => void;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onEvent: OnEngineEvent;
}

const reason = "cancelled_by_user";
/** A run that is just moving from one table to the other is seen by the next look. */
const mostTries = 5;

/** Cancels runs and gives them another time, and tells whoever hands them out. */
export class RunChanger {
  readonly #options: RunChangerOptions;

  constructor(options: RunChangerOptions) {
    this.#options = options;
  }

  /** Answers those that ended, or are asked to stop; of the others nothing was left to cancel. */
  async cancelMany(namespaceId: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#end(namespaceId, ids, { reason, isOfRunning: true });
  }

  /** Answers those that ended; what workers have goes on. */
  async purgeMany(namespaceId: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#end(namespaceId, ids, { reason: "purged", isOfRunning: false });
  }

  async #end(namespaceId: number, ids: readonly string[], how: EndingOfRuns): Promise<ReadonlySet<string>> {
    const { changes, onEvent, onFreed, onStopped } = this.#options;
    const found = await changes.cancel(namespaceId, ids, how);
    const known = new Set(found.map((run) => run.id));
    const left = ids.filter((id) => !known.has(id));
    // One that was on its way from far_future_run into the hot table was in neither to a statement that had begun before.
    const cancelled = left.length === 0 ? found : [...found, ...(await changes.cancel(namespaceId, left, how))];
    for (const { id: runId, jobId, task, queue, isEnded } of cancelled) {
      const of = { namespaceId, runId, jobId, task, queue };
      if (isEnded) onEvent({ type: "run.finished", ...of, status: "cancelled", durationMs: 0 });
    }
    onFreed(cancelled.map((run) => run.freedJobId).filter((jobId) => jobId !== null));
    if (cancelled.some((run) => !run.isEnded)) onStopped();
    return new Set(cancelled.map((run) => run.id));
  }

  async cancel(namespaceId: number, id: string): Promise<RunView> {
    for (let tries = 1; ; tries += 1) {
      const done = await this.cancelMany(namespaceId, [id]);
      const run = await this.#found(namespaceId, id);
      if (done.has(id) || isFinal(run.status) || tries >= mostTries) return run;
    }
  }

  async reschedule(namespaceId: number, id: string, runAt: Instant): Promise<RunView> {
    const { changes, rank, onQueued, onDueRuns } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const { task, queue, priority, deadlineAt, status } = await this.#found(namespaceId, id);
      const deadlineMs = deadlineAt ?? undefined;
      const place = rank({ namespaceId, queue, task, dueMs: runAt, priority, deadlineMs });
      await changes.recall(namespaceId, id);
      const moved = await changes.reschedule(namespaceId, id, runAt, place);
      if (moved !== null) {
        if (moved.state === "queued" || moved.state === "blocked") onQueued([moved]);
        else onDueRuns([moved]);
        return this.#found(namespaceId, id);
      }
      if (isFinal(status) || status === "running" || status === "blocked" || tries >= mostTries) {
        throw new CarillonError("run_not_waiting", `the run ${formatId("run", id)} is ${status}${byJob(status, id)}`);
      }
    }
  }

  async #found(namespaceId: number, id: string): Promise<RunView> {
    const run = await this.#options.runs.find(namespaceId, id);
    if (run === null) throw new CarillonError("not_found", `there is no run ${formatId("run", id)}`);
    return run;
  }
}

/** One that still has its time before it and is in no table is made by its job. */
function byJob(status: RunStatus, id: string): string {
  return status === "scheduled" ? ` and is made by its job: give ${formatId("job", id)} another time` : "";
}
