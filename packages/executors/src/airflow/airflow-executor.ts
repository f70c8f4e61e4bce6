import {
  type CreateExecutors,
  type Executor,
  type ExecutorHost,
  faultsOf,
  followWork,
  NonRetryableError,
} from "@carillon/worker";
import { RemoteApi } from "../remote-api.js";
import { type AirflowVersion, DagRunWork, readAirflowPayload } from "./dag-run-work.js";

/** A DAG run failed. */
export class DagRunFailedError extends Error {
  override readonly name = "DagRunFailedError";
}

/** Starts a DAG run and follows it to its end. A worker that takes over a run follows the DAG run that the run already has. */
export function airflowExecutor(host: ExecutorHost): Executor {
  return {
    name: "airflow",
    check: (payload) => faultsOf(readAirflowPayload, payload),
    run: async (payload, context) => {
      const read = readAirflowPayload(payload);
      const { api, version } = await openAirflow(host);
      const work = new DagRunWork(api, version, read, context);
      const options = { signal: context.signal, timers: host.timers, everyMs: read.everyMs };
      const { state, failedTasks } = await followWork(work, options);
      if (state === "success") return { dag_run_id: work.id, state };
      const which = failedTasks.length === 0 ? "." : `; failed tasks: ${failedTasks.join(", ")}`;
      throw new DagRunFailedError(`The DAG run ${work.id} failed${which}`);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [airflowExecutor(host)];

/**
 * CARILLON_AIRFLOW_URL; CARILLON_AIRFLOW_API, v2 for Airflow 3 (the default) or v1 for Airflow 2; the secret `airflow_token`, or
 * `airflow_username` and `airflow_password`.
 */
async function openAirflow({ env, secrets, timers }: ExecutorHost) {
  const url = env["CARILLON_AIRFLOW_URL"];
  if (url === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new NonRetryableError("This worker has no Airflow: set CARILLON_AIRFLOW_URL to http://… or https://….");
  const version: AirflowVersion = env["CARILLON_AIRFLOW_API"] === "v1" ? "v1" : "v2";
  const token = await secrets.find("airflow_token");
  const [user, password] = [await secrets.find("airflow_username"), await secrets.find("airflow_password")];
  const basic = user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
  const authorization = token === undefined ? basic : `Bearer ${token}`;
  const address = {
    base: `${url.replace(/\/+$/, "")}/api/${version}`,
    ...(authorization !== undefined && { headers: { authorization } }),
  };
  return { api: new RemoteApi("Airflow", () => Promise.resolve(address), timers), version };
}
