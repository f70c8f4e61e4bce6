import { CarillonError } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { Task, TaskContext } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";
import { handlerContext } from "./child-runs.js";
import { wireDefaults } from "./requests.js";
import { type BatchItem, type HandlerContext, type TaskDefinition, validatePayload } from "./task.js";

const defaultBatchSize = 100;

/** Converts a task definition into a task of the runtime, which validates each payload before it calls the handler. */
export function workerTask(definition: TaskDefinition<never, unknown>, soon: WorkerTimers["soon"]): Task {
  const { name, schema, handler } = definition;
  const traits = { ...definition.traits, defaults: wireDefaults(definition.defaults) };
  const call = toCall(handler, soon);
  if (schema === null) return { name, ...traits, run: (payload, ctx) => call(payload as never, ctx) };
  return {
    name,
    ...traits,
    run: async (payload, ctx) => {
      try {
        return await call((await validatePayload(name, schema, payload)) as never, ctx);
      } catch (error) {
        // A retry would get the same payload.
        if (error instanceof CarillonError && error.code === "payload_invalid")
          throw new NonRetryableError(error.message, { cause: error });
        throw error;
      }
    },
  };
}

type Call = (payload: never, ctx: TaskContext) => unknown;

function toCall(handler: TaskDefinition<never, unknown>["handler"], soon: WorkerTimers["soon"]): Call {
  if (handler.run !== undefined) return (payload, ctx) => handler.run(payload, handlerContext(ctx));
  const batcher = new Batcher(handler.runBatch, handler.batchSize ?? defaultBatchSize, soon);
  return (payload, ctx) => batcher.run(payload, handlerContext(ctx));
}

type RunBatch = (items: readonly BatchItem<never>[]) => readonly unknown[] | Promise<readonly unknown[]>;

interface PendingItem {
  readonly item: BatchItem<never>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Collects the runs that start in one turn of the event loop into one call of a batch handler, and gives each its own result. */
class Batcher {
  readonly #runBatch: RunBatch;
  readonly #maxSize: number;
  readonly #soon: WorkerTimers["soon"];
  #pending: PendingItem[] = [];

  constructor(runBatch: RunBatch, maxSize: number, soon: WorkerTimers["soon"]) {
    this.#runBatch = runBatch;
    this.#maxSize = maxSize;
    this.#soon = soon;
  }

  run(payload: never, ctx: HandlerContext): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#pending.push({ item: { payload, ctx }, resolve, reject }) === 1) this.#soon(() => this.#flush());
    });
  }

  #flush(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (let start = 0; start < pending.length; start += this.#maxSize) {
      void this.#call(pending.slice(start, start + this.#maxSize));
    }
  }

  async #call(batch: readonly PendingItem[]): Promise<void> {
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
