import type { Breaker, BreakerList, PageQuery } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

export interface BreakerCalls {
  /** Those that have opened at least once. */
  list(query?: PageQuery, options?: CallOptions): Promise<BreakerList>;
  get(name: string, options?: CallOptions): Promise<Breaker>;
  /** Closes it. */
  reset(name: string, options?: CallOptions): Promise<Breaker>;
}

export function breakerCalls(call: Transport): BreakerCalls {
  const path = "/v1/breakers";
  const at = (name: string): string => `${path}/${segment(name)}`;
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    get: (name, given = {}) => call({ ...given, method: "GET", path: at(name) }),
    reset: (name, given = {}) => call({ ...given, method: "POST", path: `${at(name)}:reset` }),
  };
}
