import { present } from "@carillon/core";
import { checkTaskOptions } from "./check-calls.js";
import type {
  Handler,
  PlainTaskOptions,
  RunDefaults,
  StandardSchema,
  TaskDefinition,
  TaskOptions,
  TaskTraits,
} from "./task.js";

/** Defines a task. Throws config_invalid for unknown and wrong options. */
export function task<Input, Payload, Result>(
  options: TaskOptions<Input, Payload, Result>,
): TaskDefinition<Input, Result>;
export function task<Payload = unknown, Result = unknown>(
  options: PlainTaskOptions<Payload, Result>,
): TaskDefinition<Payload, Result>;
export function task(
  options: RunDefaults & TaskTraits & { readonly name: string; readonly payload?: unknown },
): TaskDefinition<never, unknown> {
  checkTaskOptions(options, task);
  const { name, payload, queue, priority, retry, timeout, deadline, guarantee } = options;
  const { requires, taskVersion, allowSpot, weight, versions } = options;
  const { concurrency, rateLimit, orderingKey, orderingOnFailure } = options;
  const { callbacks, breaker, sla, searchable } = options;
  const limits = { concurrency, rateLimit, orderingKey, orderingOnFailure, breaker };
  return Object.freeze({
    name,
    defaults: present({
      queue,
      priority,
      retry,
      timeout,
      deadline,
      sla,
      guarantee,
      requires,
      taskVersion,
      allowSpot,
      ...limits,
      callbacks,
      searchable,
    }),
    traits: present({ weight, versions }),
    schema: (payload ?? null) as StandardSchema<never, unknown> | null,
    handler: options as unknown as Handler<never, unknown>,
  });
}
