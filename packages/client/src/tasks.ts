import type { PageQuery, TaskInfo, TaskInfoList } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

/** Tasks that workers serve, that jobs name, or that finished runs had. */
export interface TaskCalls {
  list(query?: PageQuery, options?: CallOptions): Promise<TaskInfoList>;
  get(name: string, options?: CallOptions): Promise<TaskInfo>;
}

export function taskCalls(call: Transport): TaskCalls {
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: "/v1/tasks", query }),
    get: (name, given = {}) => call({ ...given, method: "GET", path: `/v1/tasks/${segment(name)}` }),
  };
}
