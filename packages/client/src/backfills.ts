import type { Backfill } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

export interface BackfillCalls {
  get(id: string, options?: CallOptions): Promise<Backfill>;
  /** Makes no more runs; those made go on. */
  abort(id: string, options?: CallOptions): Promise<Backfill>;
}

export function backfillCalls(call: Transport): BackfillCalls {
  const at = (id: string): string => `/v1/backfills/${segment(id)}`;
  return {
    get: (id, given = {}) => call({ ...given, method: "GET", path: at(id) }),
    abort: (id, given = {}) => call({ ...given, method: "POST", path: `${at(id)}:abort` }),
  };
}
