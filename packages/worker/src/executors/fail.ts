import { NonRetryableError } from "../runtime/errors.js";
import type { Task } from "../runtime/task.js";
import { objectPayload } from "./payload.js";

/**
 * Fails on purpose, to see retries and dead letters: `{"message": "…"}`; with `{"times": 2}` the third attempt succeeds;
 * with `{"retryable": false}` the first failure is the last.
 */
export const fail: Task = {
  name: "fail",
  run: (payload, { attempt }) => {
    const { message, times, retryable } = objectPayload("fail", payload);
    if (typeof times === "number" && attempt > times) return { failed_before: times };
    const text = typeof message === "string" ? message : "failed on purpose";
    throw retryable === false ? new NonRetryableError(text) : new Error(text);
  },
};
