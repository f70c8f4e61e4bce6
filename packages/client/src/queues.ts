import type {
  BulkOperation,
  Queue,
  QueueList,
  QueueListQuery,
  QueuePatch,
  QueuePauseRequest,
  QueuePurged,
  QueuePurgeRequest,
  QueueStats,
} from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, ChangeOptions, Transport } from "./transport.js";

export interface QueueCalls {
  get(name: string, options?: CallOptions): Promise<Queue>;
  list(query?: QueueListQuery, options?: CallOptions): Promise<QueueList>;
  stats(name: string, options?: CallOptions): Promise<QueueStats>;
  /** Makes the queue if there is none. */
  update(name: string, patch: QueuePatch, options?: ChangeOptions): Promise<Queue>;
  pause(name: string, how?: QueuePauseRequest, options?: ChangeOptions): Promise<Queue>;
  resume(name: string, options?: ChangeOptions): Promise<Queue>;
  /** Ends all runs that wait; many by an operation that goes on. */
  purge(name: string, how?: QueuePurgeRequest, options?: CallOptions): Promise<QueuePurged | BulkOperation>;
}

export function queueCalls(call: Transport): QueueCalls {
  const path = "/v1/queues";
  const at = (name: string): string => `${path}/${segment(name)}`;
  return {
    get: (name, given = {}) => call({ ...given, method: "GET", path: at(name) }),
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path, query }),
    stats: (name, given = {}) => call({ ...given, method: "GET", path: `${at(name)}/stats` }),
    update: (name, patch, given = {}) => call({ ...given, method: "PATCH", path: at(name), body: patch }),
    pause: (name, how = {}, given = {}) => call({ ...given, method: "POST", path: `${at(name)}:pause`, body: how }),
    purge: (name, how = {}, given = {}) => call({ ...given, method: "POST", path: `${at(name)}:purge`, body: how }),
    resume: (name, given = {}) => call({ ...given, method: "POST", path: `${at(name)}:resume` }),
  };
}
