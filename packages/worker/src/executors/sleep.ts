import { CarillonError, type DurationMs, parseDuration } from "@carillon/core";
import { NonRetryableError } from "../runtime/errors.js";
import type { Task } from "../runtime/task.js";
import type { WorkerTimers } from "../runtime/timers.js";
import { wait } from "../runtime/wait.js";
import { objectPayload } from "./payload.js";

/** Waits for `{"for": "2s"}` or `{"ms": 2000}`, or until its signal fires. */
export function sleepTask(timers: Pick<WorkerTimers, "setTimeout" | "clearTimeout">): Task {
  return {
    name: "sleep",
    run: async (payload, { signal }) => {
      const ms = spanOf(objectPayload("sleep", payload));
      await wait(ms, signal, timers);
      return { slept_ms: ms };
    },
  };
}

function spanOf(payload: Readonly<Record<string, unknown>>): DurationMs {
  const given = payload["for"] ?? payload["ms"] ?? 1_000;
  if (typeof given === "number" && Number.isFinite(given) && given >= 0) return given;
  if (typeof given !== "string") throw new NonRetryableError('sleep wants {"for": "2s"} or {"ms": 2000}');
  try {
    return parseDuration(given);
  } catch (error) {
    throw error instanceof CarillonError ? new NonRetryableError(error.message) : error;
  }
}
