import { type CreateExecutors, type Executor, type ExecutorHost, faultsOf, followWork } from "@carillon/worker";
import { openAirflow } from "./airflow-api.js";
import { readAirflowPayload } from "./airflow-payload.js";
import { DagRunWork } from "./dag-run-work.js";

/** A DAG run failed. */
export class DagRunFailedError extends Error {
  override readonly name = "DagRunFailedError";
}

/** Starts a DAG run and follows it to its end. A worker that takes a run over goes on with the DAG run that is there. */
export function airflowExecutor(host: ExecutorHost): Executor {
  return {
    name: "airflow",
    check: (payload) => faultsOf(readAirflowPayload, payload),
    run: async (payload, context) => {
      const read = readAirflowPayload(payload);
      const work = new DagRunWork(await openAirflow(host), read, context);
      const options = { signal: context.signal, timers: host.timers, everyMs: read.everyMs };
      const { state, failedTasks } = await followWork(work, options);
      if (state === "success") return { dag_run_id: work.id, state };
      const which = failedTasks.length === 0 ? "" : `; failed tasks: ${failedTasks.join(", ")}`;
      throw new DagRunFailedError(`the DAG run ${work.id} failed${which}`);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [airflowExecutor(host)];
