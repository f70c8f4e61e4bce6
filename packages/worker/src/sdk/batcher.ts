import type { TaskContext } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";
import type { BatchItem } from "./task.js";

type RunBatch = (items: readonly BatchItem<never>[]) => readonly unknown[] | Promise<readonly unknown[]>;

interface Waiting {
  readonly item: BatchItem<never>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers runs that begin in the same turn into one call of a batch handler, and gives each its own result. */
export class Batcher {
  readonly #runBatch: RunBatch;
  readonly #size: number;
  readonly #soon: WorkerTimers["soon"];
  #waiting: Waiting[] = [];

  constructor(runBatch: RunBatch, size: number, soon: WorkerTimers["soon"]) {
    this.#runBatch = runBatch;
    this.#size = size;
    this.#soon = soon;
  }

  run(payload: never, ctx: TaskContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ item: { payload, ctx }, resolve, reject }) === 1) this.#soon(() => this.#flush());
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let first = 0; first < waiting.length; first += this.#size) {
      void this.#call(waiting.slice(first, first + this.#size));
    }
  }

  async #call(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#runBatch(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (!(index in results)) reject(new Error(`a batch of ${batch.length} runs got ${results.length} results`));
        else if (result instanceof Error) reject(result);
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
