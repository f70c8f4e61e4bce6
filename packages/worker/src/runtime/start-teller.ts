import type { Running } from "./running.js";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface StartTellerOptions {
  readonly transport: Pick<Transport, "started">;
  readonly timers: WorkerTimers;
  readonly running: () => Iterable<Running>;
  readonly onFailure: (error: unknown) => void;
}

/** Runs that take longer than this are told of while they run. */
const tellEveryMs = 3_000;

/** Tells the engine now and then which runs have begun: only the loss of such a run counts. */
export class StartTeller {
  readonly #options: StartTellerOptions;
  #timer: unknown = null;
  #isStopped = false;

  constructor(options: StartTellerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStopped) return;
    const tell = (): void => void this.#tell().finally(() => this.start());
    this.#timer = this.#options.timers.setTimeout(tell, tellEveryMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  async #tell(): Promise<void> {
    const { transport, timers, running, onFailure } = this.#options;
    const begun = [...running()].filter((run) => !run.isTold);
    if (begun.length === 0) return;
    const now = timers.monotonic();
    try {
      await transport.started(
        begun.map(({ assignment: { runId, fence }, startedAt }) => ({ runId, fence, agoMs: now - startedAt })),
      );
      for (const run of begun) run.isTold = true;
    } catch (error) {
      onFailure(error);
    }
  }
}
