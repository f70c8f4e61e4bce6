import type { RemoteWork, TaskContext } from "@carillon/worker";
import { type AirflowApi, jsonOf } from "./airflow-api.js";
import type { AirflowPayload } from "./airflow-payload.js";

export interface DagRunEnd {
  readonly state: "success" | "failed";
  readonly failedTasks: readonly string[];
}

interface TaskInstances {
  readonly task_instances: readonly {
    readonly task_id: string;
    readonly state: string | null;
    readonly try_number?: number;
  }[];
}

const longestLog = 100_000;

/** One DAG run per attempt, named after it: a worker that takes an attempt over finds what was begun. */
export class DagRunWork implements RemoteWork<DagRunEnd> {
  readonly id: string;
  readonly #api: AirflowApi;
  readonly #payload: AirflowPayload;
  readonly #context: TaskContext;
  readonly #states = new Map<string, string>();

  constructor(api: AirflowApi, payload: AirflowPayload, context: TaskContext) {
    this.id = idOf(context.runId, context.attempt);
    this.#api = api;
    this.#payload = payload;
    this.#context = context;
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { runId, attempt } = this.#context;
    // What an earlier attempt may have left must not work beside this one.
    if (attempt > 1) await this.#fail(idOf(runId, attempt - 1), signal);
    const body = {
      dag_run_id: this.id,
      conf: this.#payload.conf,
      // The newer API wants to be told that there is none.
      ...(this.#api.version === "v2" && { logical_date: null }),
    };
    await this.#api.call({ method: "POST", path: this.#runs(), body, takes: [200, 201, 409] }, signal);
  }

  async look(signal: AbortSignal): Promise<DagRunEnd | null> {
    const answer = await this.#api.call({ method: "GET", path: `${this.#runs()}/${this.id}`, takes: [200] }, signal);
    const { state } = jsonOf(answer) as { readonly state: string };
    const failedTasks = await this.#tellStates(signal);
    return state === "success" || state === "failed" ? { state, failedTasks } : null;
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#fail(this.id, signal);
  }

  /** One that has ended is left as it is. */
  async #fail(id: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#runs()}/${id}`;
    const answer = await this.#api.call({ method: "GET", path, takes: [200, 404] }, signal);
    if (answer.status === 404) return;
    const { state } = jsonOf(answer) as { readonly state: string };
    if (state === "success" || state === "failed") return;
    await this.#api.call({ method: "PATCH", path, body: { state: "failed" }, takes: [200, 404, 409] }, signal);
  }

  /** What became of its tasks goes to the run's log, with the log of each that failed. Answers those. */
  async #tellStates(signal: AbortSignal): Promise<readonly string[]> {
    const path = `${this.#runs()}/${this.id}/taskInstances`;
    const { task_instances: tasks } = jsonOf(
      await this.#api.call({ method: "GET", path, takes: [200] }, signal),
    ) as TaskInstances;
    for (const { task_id: task, state, try_number: tries = 1 } of tasks) {
      if (state === null || this.#states.get(task) === state) continue;
      this.#states.set(task, state);
      if (state !== "failed") this.#context.log.info(`${task}: ${state}`);
      else await this.#tellFailure(task, tries, signal);
    }
    return tasks.filter(({ state }) => state === "failed").map(({ task_id: task }) => task);
  }

  async #tellFailure(task: string, tries: number, signal: AbortSignal): Promise<void> {
    const path = `${this.#runs()}/${this.id}/taskInstances/${encodeURIComponent(task)}/logs/${tries}?full_content=true`;
    const answer = await this.#api.call({ method: "GET", path, takes: [200, 403, 404], accept: "text/plain" }, signal);
    this.#context.log.error(`${task}: failed`);
    if (answer.status !== 200) return;
    for (const line of answer.body.toString("utf8").slice(-longestLog).split("\n"))
      if (line !== "") this.#context.log.error(line, { task });
  }

  #runs(): string {
    return `/dags/${encodeURIComponent(this.#payload.dag)}/dagRuns`;
  }
}

function idOf(runId: string, attempt: number): string {
  return `carillon__${runId}__${attempt}`;
}
