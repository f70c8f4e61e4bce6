import type { Moment } from "@carillon/contract";
import type { ApiOptions } from "../ports.js";

/** When a request is read, by the scheduler's clock. */
export function momentOf({ now, catchupWindowMs, checkPayload }: ApiOptions): Moment {
  return {
    now: now(),
    ...(catchupWindowMs !== undefined && { catchupWindowMs }),
    ...(checkPayload !== undefined && { checkPayload }),
  };
}
