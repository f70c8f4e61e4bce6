import {
  type Executor,
  type ExecutorHost,
  faultsOf,
  followWork,
  NonRetryableError,
  PayloadReader,
  type RemoteWork,
  type TaskContext,
} from "@carillon/worker";
import { type ApiCall, RemoteApi } from "../remote-api.js";

/** A DAG run failed. */
class DagRunFailedError extends Error {
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

/** Of its API: v2 of Airflow 3, v1 of Airflow 2. */
type AirflowVersion = "v1" | "v2";

type AirflowPayload = ReturnType<typeof readAirflowPayload>;

/** Throws a PayloadError that names every fault. */
function readAirflowPayload(payload: unknown) {
  const reader = new PayloadReader("airflow", payload);
  const conf = reader.value("conf") ?? {};
  if (typeof conf !== "object" || Array.isArray(conf)) reader.fault("conf", "must be an object");
  const read = {
    dag: reader.requiredText("dag", { max: 250, pattern: /^[\w.-]+$/, words: "the id of a DAG" }),
    conf,
    everyMs: reader.duration("poll_every", 600_000) ?? 5_000,
  };
  reader.end();
  return read;
}

interface DagRunEnd {
  readonly state: "success" | "failed";
  readonly failedTasks: readonly string[];
}

interface DagRun {
  readonly state: string;
}

interface TaskInstances {
  readonly task_instances: readonly {
    readonly task_id: string;
    readonly state: string | null;
    readonly try_number?: number;
  }[];
}

const maxLogCharacters = 100_000;

/** One DAG run per attempt, named after it, so that a worker that takes over the attempt finds it. */
class DagRunWork implements RemoteWork<DagRunEnd> {
  readonly id: string;
  readonly #api: RemoteApi;
  readonly #version: AirflowVersion;
  readonly #runs: string;
  readonly #conf: unknown;
  readonly #context: TaskContext;
  readonly #loggedStates = new Map<string, string>();

  constructor(api: RemoteApi, version: AirflowVersion, { dag, conf }: AirflowPayload, context: TaskContext) {
    this.id = idOf(context.runId, context.attempt);
    this.#api = api;
    this.#version = version;
    this.#runs = `/dags/${encodeURIComponent(dag)}/dagRuns`;
    this.#conf = conf;
    this.#context = context;
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { runId, attempt } = this.#context;
    // A DAG run of the attempt before may still work.
    if (attempt > 1) await this.#fail(idOf(runId, attempt - 1), signal);
    const body = {
      dag_run_id: this.id,
      conf: this.#conf,
      // v2 requires the field.
      ...(this.#version === "v2" && { logical_date: null }),
    };
    // A DAG run of this id (409) is adopted.
    await this.#api.call({ method: "POST", path: this.#runs, body, expected: [200, 201, 409] }, signal);
  }

  async poll(signal: AbortSignal): Promise<DagRunEnd | null> {
    const { state } = await this.#api.json<DagRun>(this.#get(this.id), signal);
    const failedTasks = await this.#logTasks(signal);
    return state === "success" || state === "failed" ? { state, failedTasks } : null;
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#fail(this.id, signal);
  }

  /** Changes nothing if the DAG run has ended. */
  async #fail(id: string, signal: AbortSignal): Promise<void> {
    const { status, body } = await this.#api.call({ ...this.#get(id), expected: [200, 404] }, signal);
    if (status === 404) return;
    const { state } = JSON.parse(body.toString("utf8")) as DagRun;
    if (state === "success" || state === "failed") return;
    const change = { method: "PATCH", path: `${this.#runs}/${id}`, body: { state: "failed" } };
    await this.#api.call({ ...change, expected: [200, 404, 409] }, signal);
  }

  /** Logs each new state of a task, with the task's own log if it failed. Returns the failed tasks. */
  async #logTasks(signal: AbortSignal): Promise<readonly string[]> {
    const { task_instances: tasks } = await this.#api.json<TaskInstances>(
      this.#get(`${this.id}/taskInstances`),
      signal,
    );
    for (const { task_id: task, state, try_number: attempt = 1 } of tasks) {
      if (state === null || this.#loggedStates.get(task) === state) continue;
      this.#loggedStates.set(task, state);
      if (state !== "failed") this.#context.log.info(`${task}: ${state}`);
      else await this.#logFailure(task, attempt, signal);
    }
    return tasks.filter(({ state }) => state === "failed").map(({ task_id: task }) => task);
  }

  async #logFailure(task: string, attempt: number, signal: AbortSignal): Promise<void> {
    const below = `${this.id}/taskInstances/${encodeURIComponent(task)}/logs/${attempt}?full_content=true`;
    const call = { ...this.#get(below), expected: [200, 403, 404], accept: "text/plain" };
    const answer = await this.#api.call(call, signal);
    this.#context.log.error(`${task}: failed`);
    if (answer.status !== 200) return;
    for (const line of answer.body.toString("utf8").slice(-maxLogCharacters).split("\n"))
      if (line !== "") this.#context.log.error(line, { task });
  }

  #get(below: string): ApiCall {
    return { method: "GET", path: `${this.#runs}/${below}`, expected: [200] };
  }
}

function idOf(runId: string, attempt: number): string {
  return `carillon__${runId}__${attempt}`;
}
