import { type Worker, readWorkerDrain } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { WorkerState, WorkerView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { idOrNotFound } from "./references.js";
import { listRuns } from "./runs.js";
import { timestamp } from "./timestamp.js";

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
    async listWorkers({ query, namespace }) {
      const list = ["workers", namespace];
      const page = await engine.workers.list(namespace, pageRequest(query, list));
      return {
        status: 200,
        body: { workers: page.rows.map(toWorkerJson), next_page_token: nextPageToken(page, list) },
      };
    },
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
  if (worker === null) throw notFound(`There is no worker ${id}; workers that have left are not listed.`);
  return { status: 200, body: toWorkerJson(worker) };
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
