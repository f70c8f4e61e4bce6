import { CarillonError } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { Task } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";
import { Batcher } from "./batcher.js";
import { checkedPayload } from "./standard-schema.js";
import type { TaskDefinition } from "./task.js";
import { wireDefaults } from "./wire-defaults.js";

const defaultBatchSize = 100;

/** A task as the worker's runtime takes it: the payload is checked before the handler sees it. */
export function workerTask(definition: TaskDefinition<never, unknown>, soon: WorkerTimers["soon"]): Task {
  const { name, schema, handler } = definition;
  const traits = { ...definition.traits, defaults: wireDefaults(definition.defaults) };
  const call = callOf(handler, soon);
  if (schema === null) return { name, ...traits, run: (payload, ctx) => call(payload as never, ctx) };
  return {
    name,
    ...traits,
    run: async (payload, ctx) => {
      try {
        return await call((await checkedPayload(name, schema, payload)) as never, ctx);
      } catch (error) {
        // Another try would find the same payload.
        if (error instanceof CarillonError && error.code === "payload_invalid")
          throw new NonRetryableError(error.message, { cause: error });
        throw error;
      }
    },
  };
}

type Call = (payload: never, ctx: Parameters<Task["run"]>[1]) => unknown;

function callOf(handler: TaskDefinition<never, unknown>["handler"], soon: WorkerTimers["soon"]): Call {
  if (handler.run !== undefined) return (payload, ctx) => handler.run(payload, ctx);
  const batcher = new Batcher(handler.runBatch, handler.batchSize ?? defaultBatchSize, soon);
  return (payload, ctx) => batcher.run(payload, ctx);
}
