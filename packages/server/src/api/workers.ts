import { readWorkerDrain, type Worker } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { WorkerState, WorkerView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { timestamp } from "./timestamp.js";
import { idOrNotFound, notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";
import { runPage } from "./runs.js";

type WorkerHandlers = Pick<
  Handlers,
  "listWorkers" | "getWorker" | "listWorkerRuns" | "cordonWorker" | "uncordonWorker" | "drainWorker"
>;

interface WorkerCall {
  readonly params: { readonly id: string };
  readonly namespace: string;
}

export function workerHandlers({ engine }: ApiOptions): WorkerHandlers {
  const ask =
    (state: WorkerState) =>
    async ({ params, namespace }: WorkerCall): Promise<CallAnswer> =>
      answerOf(params.id, await engine.askWorker(namespace, idOrNotFound("wrk", params.id), state));
  return {
    async listWorkers({ query, namespace }) {
      const list = ["workers", namespace];
      const page = await engine.listWorkers(namespace, pageRequest(query, list));
      return { status: 200, body: { workers: page.rows.map(wireWorker), next_page_token: nextPageToken(page, list) } };
    },
    async getWorker({ params, namespace }) {
      return answerOf(params.id, await engine.getWorker(namespace, idOrNotFound("wrk", params.id)));
    },
    listWorkerRuns({ params, query, namespace }) {
      return runPage(engine, namespace, { ...query, worker_id: idOrNotFound("wrk", params.id) });
    },
    cordonWorker: ask("cordoned"),
    uncordonWorker: ask("active"),
    drainWorker(call) {
      const { isNotice } = readWorkerDrain(call.body);
      return ask(isNotice ? "leaving" : "draining")(call);
    },
  };
}

function answerOf(id: string, worker: WorkerView | null): CallAnswer {
  if (worker === null) throw notFound(`There is no worker ${id}, or it has gone.`);
  return { status: 200, body: wireWorker(worker) };
}

function wireWorker(worker: WorkerView): Worker {
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
