import { CarillonError, formatId, type Instant, isFinal, type RunStatus } from "@carillon/core";
import type { EndingOfRuns } from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import type { RankRun } from "../catalog/rank-run.js";
import type { EngineContext } from "../context.js";
import type { RunReader, RunView } from "./run-reader.js";

type RunChangerContext = {
  readonly store: Pick<EngineContext["store"], "runChanges">;
  readonly emit: EngineContext["emit"];
  readonly wakeups: Pick<EngineContext["wakeups"], "publish" | "broadcast" | "runsQueued" | "runsDue">;
};

const reason = "cancelled_by_user";
/** A run that moves from one table to the other during a try is found by the next. */
const maxTries = 5;

/** Cancels runs and gives them another time, and wakes the components that hand them out. */
export class RunChanger {
  readonly #context: RunChangerContext;
  readonly #runs: Pick<RunReader, "find">;
  readonly #rank: RankRun;

  constructor(
    context: RunChangerContext,
    { runs, rank }: { readonly runs: Pick<RunReader, "find">; readonly rank: RankRun },
  ) {
    this.#context = context;
    this.#runs = runs;
    this.#rank = rank;
  }

  /** Returns the runs that ended or whose workers are asked to stop them. The others had ended before. */
  async cancelMany(namespaceId: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#end(namespaceId, ids, { reason, isOfRunning: true });
  }

  /** Returns the runs that ended. Runs that workers hold go on. */
  async purgeMany(namespaceId: number, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#end(namespaceId, ids, { reason: "purged", isOfRunning: false });
  }

  async #end(namespaceId: number, ids: readonly string[], how: EndingOfRuns): Promise<ReadonlySet<string>> {
    const { store, emit, wakeups } = this.#context;
    const found = await store.runChanges.cancel(namespaceId, ids, how);
    const known = new Set(found.map((run) => run.id));
    const left = ids.filter((id) => !known.has(id));
    // A far-future run that was promoted meanwhile was in neither table for a statement that had begun before.
    const cancelled =
      left.length === 0 ? found : [...found, ...(await store.runChanges.cancel(namespaceId, left, how))];
    for (const { id: runId, jobId, task, queue, isEnded } of cancelled) {
      const of = { namespaceId, runId, jobId, task, queue };
      if (isEnded) emit({ type: "run.cancelled", ...of, durationMs: 0 });
    }
    const freed = cancelled.map((run) => run.freedJobId).filter((jobId) => jobId !== null);
    if (freed.length > 0) wakeups.publish("overlap.freed", freed);
    if (cancelled.some((run) => !run.isEnded)) wakeups.broadcast("stops");
    return new Set(cancelled.map((run) => run.id));
  }

  async cancel(namespaceId: number, id: string): Promise<RunView> {
    for (let tries = 1; ; tries += 1) {
      const done = await this.cancelMany(namespaceId, [id]);
      const read = () => this.#get(namespaceId, id);
      const run = await (done.has(id) ? afterCommit(read) : read());
      if (done.has(id) || isFinal(run.status) || tries >= maxTries) return run;
    }
  }

  async reschedule(namespaceId: number, id: string, runAt: Instant): Promise<RunView> {
    const { store, wakeups } = this.#context;
    for (let tries = 1; ; tries += 1) {
      const { task, queue, priority, deadlineAt, status } = await this.#get(namespaceId, id);
      const deadlineMs = deadlineAt ?? undefined;
      const rank = this.#rank({ namespaceId, queue, task, dueMs: runAt, priority, deadlineMs });
      await store.runChanges.promote(namespaceId, id);
      const moved = await store.runChanges.reschedule(namespaceId, id, runAt, rank);
      if (moved !== null) {
        if (moved.state === "queued" || moved.state === "blocked") wakeups.runsQueued([moved]);
        else wakeups.runsDue([moved]);
        return afterCommit(() => this.#get(namespaceId, id));
      }
      if (isFinal(status) || status === "running" || status === "blocked" || tries >= maxTries) {
        throw new CarillonError("run_not_waiting", `The run ${formatId("run", id)} is ${status}${byJob(status, id)}.`);
      }
    }
  }

  async #get(namespaceId: number, id: string): Promise<RunView> {
    const run = await this.#runs.find(namespaceId, id);
    if (run === null) throw new CarillonError("not_found", `There is no run ${formatId("run", id)}.`);
    return run;
  }
}

/** A scheduled run that is in no table is made by its job when its time comes. */
function byJob(status: RunStatus, id: string): string {
  return status === "scheduled" ? ` and is made by its job: give ${formatId("job", id)} another time` : "";
}
