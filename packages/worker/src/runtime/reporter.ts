import type { Completion, DurationMs } from "@carillon/core";
import type { WorkerTimers } from "./timers.js";
import type { Transport } from "./transport.js";

export interface ReporterOptions {
  readonly transport: Pick<Transport, "complete" | "isSessionLost">;
  readonly timers: WorkerTimers;
  readonly onRefused: (runId: string) => void;
  readonly onFailure: (error: unknown) => void;
}

const pauseAfterErrorMs: DurationMs = 500;
const mostUnderWay = 4;

/** Sends results in batches: those that come in one turn go together. A result is kept until somebody answers for it. */
export class Reporter {
  readonly #options: ReporterOptions;
  #pending: Completion[] = [];
  #underWay = 0;
  #isSoon = false;
  #isResting = false;
  #onIdle: (() => void)[] = [];

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  add(completion: Completion): void {
    this.#pending.push(completion);
    this.#sendSoon();
  }

  /** The session is gone, and nobody wants them. */
  forget(): void {
    this.#pending = [];
    this.#tellIdle();
  }

  /** Resolves when every result was answered, or forgotten. */
  async idle(): Promise<void> {
    if (this.#pending.length + this.#underWay > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #sendSoon(): void {
    if (this.#isSoon || this.#isResting || this.#underWay >= mostUnderWay) return;
    this.#isSoon = true;
    this.#options.timers.soon(() => {
      this.#isSoon = false;
      if (this.#pending.length > 0) void this.#send();
    });
  }

  async #send(): Promise<void> {
    const { transport, onRefused } = this.#options;
    const batch = this.#pending;
    this.#pending = [];
    this.#underWay++;
    try {
      const accepted = await transport.complete(batch);
      if (accepted.size < batch.length) for (const { runId } of batch) if (!accepted.has(runId)) onRefused(runId);
    } catch (error) {
      this.#failed(batch, error);
    } finally {
      this.#underWay--;
    }
    if (this.#pending.length > 0) this.#sendSoon();
    else this.#tellIdle();
  }

  #failed(batch: readonly Completion[], error: unknown): void {
    const { transport, timers, onFailure } = this.#options;
    if (transport.isSessionLost(error)) return;
    onFailure(error);
    this.#pending = [...batch, ...this.#pending];
    this.#isResting = true;
    timers.setTimeout(() => {
      this.#isResting = false;
      this.#sendSoon();
    }, pauseAfterErrorMs);
  }

  #tellIdle(): void {
    if (this.#pending.length + this.#underWay === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
