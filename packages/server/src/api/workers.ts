import { type Worker, readWorkerDrain } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { WorkerState, WorkerView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, handlers, ok } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { idOrNotFound } from "./references.js";
import { listRuns } from "./runs.js";
import { timestamp } from "./timestamp.js";

const workerList = listOf("workers", toWorkerJson);

interface WorkerCall {
  readonly params: { readonly id: string };
  readonly namespace: string;
}

export function workerHandlers({ engine }: ApiOptions) {
  const setState =
    (state: WorkerState) =>
    async ({ params, namespace }: WorkerCall): Promise<ApiResponse> =>
      workerResponse(params.id, await engine.workers.requestState(namespace, idOrNotFound("wrk", params.id), state));
  return handlers({
    listWorkers: ({ query, namespace }) =>
      workerList(query, [namespace], (page) => engine.workers.list(namespace, page)),
    async getWorker({ params, namespace }) {
      return workerResponse(params.id, await engine.workers.get(namespace, idOrNotFound("wrk", params.id)));
    },
    listWorkerRuns({ params, query, namespace }) {
      return listRuns(engine, namespace, { ...query, worker_id: idOrNotFound("wrk", params.id) });
    },
    cordonWorker: setState("cordoned"),
    uncordonWorker: setState("active"),
    drainWorker(call) {
      const { isNotice } = readWorkerDrain(call.body);
      return setState(isNotice ? "leaving" : "draining")(call);
    },
  });
}

function workerResponse(id: string, worker: WorkerView | null): ApiResponse {
  return ok(toWorkerJson(found(worker, `There is no worker ${id}; workers that have left are not listed.`)));
}

function toWorkerJson(worker: WorkerView): Worker {
  const { name, queues, tasks, slots, state, labels, versions, weights } = worker;
  return {
    id: formatId("wrk", worker.id),
    name,
    queues: [...queues],
    tasks: [...tasks],
    slots,
    labels: { ...labels },
    versions: Object.fromEntries(Object.entries(versions).map(([task, all]) => [task, [...all]])),
    weights: { ...weights },
    spot: worker.isSpot,
    state,
    in_process: worker.isInProcess,
    started_at: timestamp(worker.startedAt),
    heartbeat_at: timestamp(worker.heartbeatAt),
  };
}
