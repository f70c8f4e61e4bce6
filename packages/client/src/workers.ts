import type { RunList, Worker, WorkerDrain, WorkerList, WorkerListQuery } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, Transport } from "./transport.js";

export interface WorkerCalls {
  list(query?: WorkerListQuery, options?: CallOptions): Promise<WorkerList>;
  get(id: string, options?: CallOptions): Promise<Worker>;
  /** The runs that it has or had. */
  runs(id: string, query?: WorkerListQuery, options?: CallOptions): Promise<RunList>;
  /** It is given nothing more. */
  cordon(id: string, options?: CallOptions): Promise<Worker>;
  uncordon(id: string, options?: CallOptions): Promise<Worker>;
  /** It is given nothing more, and told to end: at once with a notice that its machine goes. */
  drain(id: string, request?: WorkerDrain, options?: CallOptions): Promise<Worker>;
}

export function workerCalls(call: Transport): WorkerCalls {
  const at = (id: string): string => `/v1/workers/${segment(id)}`;
  const ask =
    (verb: string) =>
    (id: string, given: CallOptions = {}) =>
      call<Worker>({ ...given, method: "POST", path: `${at(id)}:${verb}` });
  return {
    list: (query = {}, given = {}) => call({ ...given, method: "GET", path: "/v1/workers", query }),
    get: (id, given = {}) => call({ ...given, method: "GET", path: at(id) }),
    runs: (id, query = {}, given = {}) => call({ ...given, method: "GET", path: `${at(id)}/runs`, query }),
    cordon: ask("cordon"),
    uncordon: ask("uncordon"),
    drain: (id, body = {}, given = {}) => call({ ...given, method: "POST", path: `${at(id)}:drain`, body }),
  };
}
