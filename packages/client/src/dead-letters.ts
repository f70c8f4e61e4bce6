import type {
  DeadLetterAction,
  DeadLetterActionDone,
  DeadLetterList,
  DeadLetterQuery,
  ErrorGroup,
  ErrorGroupList,
  ErrorGroupQuery,
  RunWithRedrives,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

export interface DeadLetterCalls {
  list(query?: DeadLetterQuery, options?: CallOptions): Promise<DeadLetterList>;
  get(id: string, options?: CallOptions): Promise<RunWithRedrives>;
  discard(id: string, options?: CallOptions): Promise<void>;
  /** Retries one page of them; go on with `next_page_token`. One alone: `runs.retry`. */
  redriveMany(action?: DeadLetterAction, options?: CallOptions): Promise<DeadLetterActionDone>;
  discardMany(action?: DeadLetterAction, options?: CallOptions): Promise<DeadLetterActionDone>;
}

export interface ErrorGroupCalls {
  list(query?: ErrorGroupQuery, options?: CallOptions): Promise<ErrorGroupList>;
  get(fingerprint: string, options?: CallOptions): Promise<ErrorGroup>;
}

const root = "/v1/dead-letters";

export function deadLetterCalls(call: Transport): DeadLetterCalls {
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: root, query }),
    get: (id, given = {}) => call({ ...given, method: "GET", path: `${root}/${segment(id)}` }),
    discard: (id, given = {}) => call({ ...given, method: "POST", path: `${root}/${segment(id)}:discard` }),
    redriveMany: (body = {}, given = {}) => call({ ...given, method: "POST", path: `${root}:redrive`, body }),
    discardMany: (body = {}, given = {}) => call({ ...given, method: "POST", path: `${root}:discard`, body }),
  };
}

export function errorGroupCalls(call: Transport): ErrorGroupCalls {
  const path = "/v1/error-groups";
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    get: (fingerprint, given = {}) => call({ ...given, method: "GET", path: `${path}/${segment(fingerprint)}` }),
  };
}
