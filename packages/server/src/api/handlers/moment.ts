import type { RequestContext } from "@carillon/contract";
import type { ApiOptions } from "../ports.js";

/** When a request is read, by the scheduler's clock, and what holds where it says nothing. */
export function momentOf(options: ApiOptions, namespace: string): RequestContext {
  const { engine, now, catchupWindowMs, checkPayload, refuseTarget } = options;
  return {
    now: now(),
    defaultsOf: (task) => engine.defaultsOf(namespace, task),
    ...(catchupWindowMs !== undefined && { catchupWindowMs }),
    ...(checkPayload !== undefined && { checkPayload }),
    ...(refuseTarget !== undefined && { refuseTarget }),
  };
}
