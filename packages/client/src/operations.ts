import type { BulkOperation, OperationList, PageQuery } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

/** Work on many runs that goes on by itself. */
export interface OperationCalls {
  get(id: string, options?: CallOptions): Promise<BulkOperation>;
  list(query?: PageQuery, options?: CallOptions): Promise<OperationList>;
  /** What it did stays done. */
  abort(id: string, options?: CallOptions): Promise<BulkOperation>;
}

export function operationCalls(call: Transport): OperationCalls {
  return {
    get: (id, given = {}) => call({ ...given, method: "GET", path: `/v1/operations/${segment(id)}` }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: "/v1/operations", query }),
    abort: (id, given = {}) => call({ ...given, method: "POST", path: `/v1/operations/${segment(id)}:abort` }),
  };
}
