import { readFile } from "node:fs/promises";
import { type ExecutorHost, type HttpAnswer, httpCall, NonRetryableError, type WorkerTimers } from "@carillon/worker";

export interface KubernetesCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** Statuses that are answers, not failures. */
  readonly takes: readonly number[];
  readonly mostBytes?: number;
}

interface Cluster {
  readonly url: string;
  readonly token: string | undefined;
  readonly ca: string | undefined;
  readonly namespace: string;
}

const account = "/var/run/secrets/kubernetes.io/serviceaccount";

/** The API server, as the worker's settings or its own pod name it. */
export class KubernetesApi {
  readonly namespace: string;
  readonly #cluster: Cluster;
  readonly #timers: WorkerTimers;

  constructor(cluster: Cluster, timers: WorkerTimers) {
    this.namespace = cluster.namespace;
    this.#cluster = cluster;
    this.#timers = timers;
  }

  async call({ method, path, body, takes, mostBytes }: KubernetesCall, signal: AbortSignal): Promise<HttpAnswer> {
    const { url, token, ca } = this.#cluster;
    const answer = await httpCall({
      url: new URL(path, url),
      method,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(ca !== undefined && { ca }),
      ...(mostBytes !== undefined && { mostBytes }),
      signal,
      timers: this.#timers,
    });
    if (takes.includes(answer.status)) return answer;
    const message = `kubernetes answered ${answer.status} to ${method} ${path.split("?")[0] ?? path}: ${messageIn(answer)}`;
    throw answer.status >= 500 || answer.status === 429 ? new Error(message) : new NonRetryableError(message);
  }
}

/**
 * CARILLON_KUBERNETES_URL, CARILLON_KUBERNETES_NAMESPACE, CARILLON_KUBERNETES_CA_FILE and the secret `kubernetes_token`; left out,
 * the service account of the pod in which the worker runs. Read for every run: tokens change.
 */
export async function openKubernetes({ env, secrets, timers }: ExecutorHost): Promise<KubernetesApi> {
  const given = env["CARILLON_KUBERNETES_URL"];
  const namespace = env["CARILLON_KUBERNETES_NAMESPACE"];
  if (given !== undefined && given !== "") {
    const caFile = env["CARILLON_KUBERNETES_CA_FILE"];
    const ca = caFile === undefined || caFile === "" ? undefined : await readFile(caFile, "utf8");
    const token = await secrets.find("kubernetes_token");
    return new KubernetesApi({ url: given, token, ca, namespace: namespace ?? "default" }, timers);
  }
  const [host, port] = [env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"] ?? "443"];
  if (host === undefined)
    throw new NonRetryableError("this worker runs in no cluster: set CARILLON_KUBERNETES_URL to its API server");
  const [token, ca, own] = await Promise.all(
    ["token", "ca.crt", "namespace"].map((name) => readFile(`${account}/${name}`, "utf8")),
  );
  const url = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return new KubernetesApi({ url, token: token?.trim(), ca, namespace: namespace ?? own?.trim() ?? "default" }, timers);
}

export function jsonOf(answer: HttpAnswer): unknown {
  return JSON.parse(answer.body.toString("utf8"));
}

function messageIn({ body }: HttpAnswer): string {
  const text = body.toString("utf8");
  try {
    const parsed = JSON.parse(text) as { message?: unknown } | null;
    if (typeof parsed?.message === "string") return parsed.message.slice(0, 500);
  } catch {
    // Not JSON: shown as it is.
  }
  return text.slice(0, 500);
}
