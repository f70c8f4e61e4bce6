import { readWorkerDrain, type TaskInfo, type Worker } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { TaskView, WorkerState, WorkerView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, handlers, ok, timestamp } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { idOrNotFound, readAnyName } from "./http/request.js";
import { listRuns } from "./runs.js";

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

const taskList = listOf("tasks", toTaskJson, readAnyName);

export function taskHandlers({ engine }: ApiOptions) {
  return handlers({
    listTasks: ({ query, namespace }) => taskList(query, [namespace], (page) => engine.tasks.list(namespace, page)),
    async getTask({ params, namespace }) {
      const name = readAnyName(params.name);
      const task = name === null ? null : await engine.tasks.get(namespace, name);
      const unknown = `There is no task ${JSON.stringify(params.name)}: no worker serves it, and no job or run names it.`;
      return ok(toTaskJson(found(task, unknown)));
    },
  });
}

function toTaskJson({ name, workers, slots, queues, hasJobs, expectedMs, defaults }: TaskView): TaskInfo {
  return {
    name,
    workers,
    slots,
    queues: [...queues],
    has_jobs: hasJobs,
    defaults,
    expected_ms: expectedMs,
  };
}
