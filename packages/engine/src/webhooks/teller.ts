import { CarillonError, formatId } from "@carillon/core";
import type { RunView } from "../runs/run-view.js";
import type { FailureStore, Queryable, Queued } from "@carillon/store";
import type { SystemRuns } from "./system-runs.js";
import type { ChangeContext } from "../requests.js";

export interface TellerOptions {
  readonly transaction: <Result>(work: (tx: Queryable) => Promise<Result>) => Promise<Result>;
  readonly failures: Pick<FailureStore, "redrive" | "redriven">;
  readonly runs: Pick<SystemRuns, "insert" | "announce">;
  readonly newId: () => string;
}

export interface TellRequest {
  readonly kind: "retry" | "replay";
  readonly payload?: unknown;
}

/** Repeats runs that tell of others: they belong to no job, and go as they are. */
export class Teller {
  readonly #options: TellerOptions;

  constructor(options: TellerOptions) {
    this.#options = options;
  }

  /** A retry is made once: whoever asks again is answered with the same run. */
  async tellAgain(
    namespaceId: number,
    run: RunView,
    { kind, payload }: TellRequest,
    { actor, receipt }: ChangeContext,
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    if (payload !== undefined) {
      const detail = `the run ${formatId("run", run.id)} tells of another: its message goes as it is, without another payload`;
      throw new CarillonError("run_not_repeatable", detail);
    }
    const { transaction, failures, runs, newId } = this.#options;
    const id = newId();
    const { jobId: endpointId, task, queue, trigger } = run;
    const told = await transaction(async (tx) => {
      if (!(await failures.redrive(tx, { runId: run.id, namespaceId, kind, newRunId: id, actor }))) {
        const before = await failures.redriven(tx, namespaceId, [run.id]);
        const first = before.find((one) => one.kind === "retry")?.runId;
        if (first === undefined || first === null) throw new Error(`the retry of run ${run.id} cannot be found`);
        return { id: first, isNew: false, queued: [] as Queued[] };
      }
      const again = { id, namespaceId, endpointId, about: trigger.id, task, queue, payload: run.payload };
      const queued = await runs.insert(tx, [again]);
      await receipt?.keep(tx, { runs: [{ id, isNew: true }] });
      return { id, isNew: true, queued };
    });
    runs.announce(told.queued);
    return { id: told.id, isNew: told.isNew };
  }
}
