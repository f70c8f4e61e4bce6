import { type ExecutorHost, type HttpAnswer, httpCall, NonRetryableError, type WorkerTimers } from "@carillon/worker";

export interface AirflowCall {
  readonly method: string;
  /** Below the version of the API. */
  readonly path: string;
  readonly body?: unknown;
  /** Statuses that are answers, not failures. */
  readonly takes: readonly number[];
  readonly accept?: string;
}

/** The REST API of an Airflow. */
export class AirflowApi {
  readonly version: "v1" | "v2";
  readonly #base: string;
  readonly #authorization: string | undefined;
  readonly #timers: WorkerTimers;

  constructor(options: {
    base: string;
    version: "v1" | "v2";
    authorization: string | undefined;
    timers: WorkerTimers;
  }) {
    this.version = options.version;
    this.#base = `${options.base.replace(/\/+$/, "")}/api/${options.version}`;
    this.#authorization = options.authorization;
    this.#timers = options.timers;
  }

  async call({ method, path, body, takes, accept }: AirflowCall, signal: AbortSignal): Promise<HttpAnswer> {
    const answer = await httpCall({
      url: new URL(`${this.#base}${path}`),
      method,
      headers: {
        accept: accept ?? "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(this.#authorization !== undefined && { authorization: this.#authorization }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      timers: this.#timers,
    });
    if (takes.includes(answer.status)) return answer;
    const message = `airflow answered ${answer.status} to ${method} ${path}: ${answer.body.toString("utf8").slice(0, 300)}`;
    throw answer.status >= 500 || answer.status === 429 ? new Error(message) : new NonRetryableError(message);
  }
}

/**
 * CARILLON_AIRFLOW_URL; CARILLON_AIRFLOW_API, v2 for Airflow 3 (the default) or v1 for Airflow 2; the secret `airflow_token`, or
 * `airflow_username` and `airflow_password`.
 */
export async function openAirflow({ env, secrets, timers }: ExecutorHost): Promise<AirflowApi> {
  const base = env["CARILLON_AIRFLOW_URL"];
  if (base === undefined || !/^https?:\/\//.test(base) || !URL.canParse(base))
    throw new NonRetryableError("this worker has no Airflow: set CARILLON_AIRFLOW_URL to http://… or https://…");
  const version = env["CARILLON_AIRFLOW_API"] === "v1" ? "v1" : "v2";
  const token = await secrets.find("airflow_token");
  const [user, password] = [await secrets.find("airflow_username"), await secrets.find("airflow_password")];
  const basic = user === undefined ? undefined : `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
  return new AirflowApi({ base, version, authorization: token === undefined ? basic : `Bearer ${token}`, timers });
}

export function jsonOf(answer: HttpAnswer): unknown {
  return JSON.parse(answer.body.toString("utf8"));
}
