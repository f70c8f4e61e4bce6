import type { Limit, LimitList, LimitPatch, LimitQuery } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

export interface LimitCalls {
  /** Those in use, and those that an operator has set. */
  list(query?: LimitQuery, options?: CallOptions): Promise<LimitList>;
  get(id: string, options?: CallOptions): Promise<Limit>;
  /** From then on whatever runs say of it, until `fixed` is false. */
  update(id: string, patch: LimitPatch, options?: CallOptions): Promise<Limit>;
  /** The runs behind a failed one of an ordering key go on. */
  resume(id: string, options?: CallOptions): Promise<Limit>;
}

export function limitCalls(call: Transport): LimitCalls {
  const path = "/v1/limits";
  const at = (id: string): string => `${path}/${segment(id)}`;
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    get: (id, given = {}) => call({ ...given, method: "GET", path: at(id) }),
    update: (id, patch, given = {}) => call({ ...given, method: "PATCH", path: at(id), body: patch }),
    resume: (id, given = {}) => call({ ...given, method: "POST", path: `${at(id)}:resume` }),
  };
}
