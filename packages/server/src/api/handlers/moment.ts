import type { Moment } from "@carillon/contract";
import type { ApiOptions } from "../ports.js";

/** When a request is read, by the scheduler's clock, and what holds where it says nothing. */
export function momentOf({ engine, now, catchupWindowMs, checkPayload }: ApiOptions, namespace: string): Moment {
  return {
    now: now(),
    defaultsOf: (task) => engine.defaultsOf(namespace, task),
    ...(catchupWindowMs !== undefined && { catchupWindowMs }),
    ...(checkPayload !== undefined && { checkPayload }),
  };
}
