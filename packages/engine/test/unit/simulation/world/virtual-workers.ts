import type { DurationMs, Instant } from "@carillon/core";
import { endRun } from "../../../../src/scheduler/memory/memory-job-transaction.js";
import type { MemoryRun, MemoryTables } from "../../../../src/scheduler/memory/memory-tables.js";
import { secondMs } from "../draw/year.js";
import type { Agenda } from "./agenda.js";

export interface VirtualWorkersOptions {
  readonly tables: MemoryTables;
  readonly agenda: Agenda;
  readonly now: () => Instant;
  readonly runMsOf: (jobId: string) => DurationMs;
  /** Runs of this job may have waited for the one that ended. */
  readonly onEnded: (jobId: string) => Promise<void>;
}

/** Takes every queued run at once and ends it after its time; one that is to stop ends a second later. */
export class VirtualWorkers {
  readonly #options: VirtualWorkersOptions;

  constructor(options: VirtualWorkersOptions) {
    this.#options = options;
  }

  work(): void {
    const { tables, agenda, now } = this.#options;
    for (const run of tables.queued()) {
      tables.runs.set(run.id, { ...run, state: "running", sessionId: run.id });
      agenda.add(now() + this.#durationOf(run), () => this.#end(run.id));
    }
  }

  stop(runIds: readonly string[]): void {
    const { agenda, now } = this.#options;
    for (const id of runIds) agenda.add(now() + secondMs, () => this.#end(id));
  }

  async #end(id: string): Promise<void> {
    const { tables, onEnded } = this.#options;
    const run = tables.runs.get(id);
    if (run?.state !== "running") return;
    endRun(tables, run, run.cancelReason === null ? "succeeded" : "cancelled", run.cancelReason);
    if (run.serial && run.jobId !== null) await onEnded(run.jobId);
  }

  /** From a tenth of the job's usual time to twice that. */
  #durationOf({ jobId, nominal }: MemoryRun): DurationMs {
    const share = ((nominal / 1_000) % 97) / 97;
    return Math.ceil(this.#options.runMsOf(jobId ?? "") * (0.1 + 1.9 * share));
  }
}
