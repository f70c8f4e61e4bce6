import type { RemoteWork, TaskContext } from "@carillon/worker";
import { containerName, jobManifest } from "./job-manifest.js";
import { jsonOf, type KubernetesApi } from "./kubernetes-api.js";
import type { KubernetesPayload } from "./kubernetes-payload.js";

export interface JobEnd {
  readonly hasSucceeded: boolean;
  readonly exitCode: number | null;
  readonly message: string;
}

interface JobStatus {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: {
      readonly containerStatuses?: readonly {
        readonly state?: { readonly terminated?: { readonly exitCode: number; readonly reason?: string } };
      }[];
    };
  }[];
}

const logBytes = 4_194_304;

/** One Job per attempt, named after it: a worker that takes an attempt over finds what was begun. */
export class JobWork implements RemoteWork<JobEnd> {
  readonly name: string;
  readonly #api: KubernetesApi;
  readonly #payload: KubernetesPayload;
  readonly #context: TaskContext;
  #lastLine = "";

  constructor(api: KubernetesApi, payload: KubernetesPayload, context: TaskContext) {
    this.name = nameOf(context.runId, context.attempt);
    this.#api = api;
    this.#payload = payload;
    this.#context = context;
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { attempt, runId } = this.#context;
    // What an earlier attempt may have left must not work beside this one.
    if (attempt > 1) await this.#delete(nameOf(runId, attempt - 1), signal);
    const body = jobManifest(this.name, this.#payload, this.#context);
    await this.#api.call({ method: "POST", path: this.#jobs(), body, takes: [201, 409] }, signal);
  }

  async look(signal: AbortSignal): Promise<JobEnd | null> {
    const path = `${this.#jobs()}/${this.name}`;
    const { status } = jsonOf(await this.#api.call({ method: "GET", path, takes: [200] }, signal)) as JobStatus;
    const over = status?.conditions?.find(
      ({ type, status: is }) => is === "True" && (type === "Complete" || type === "Failed"),
    );
    const pod = (await this.#pods(signal)).items.at(-1);
    if (pod !== undefined) await this.#readLogs(pod.metadata.name, signal);
    if (over === undefined) return null;
    const ended = pod?.status?.containerStatuses?.[0]?.state?.terminated;
    const message = [over.message, ended?.reason].filter((text) => text !== undefined && text !== "").join("; ");
    return { hasSucceeded: over.type === "Complete", exitCode: ended?.exitCode ?? null, message };
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#delete(this.name, signal);
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
    await this.#api.call({ method: "DELETE", path: `${this.#jobs()}/${name}`, body, takes: [200, 202, 404] }, signal);
  }

  async #pods(signal: AbortSignal): Promise<Pods> {
    const path = `/api/v1/namespaces/${this.#api.namespace}/pods?labelSelector=${encodeURIComponent(`job-name=${this.name}`)}`;
    return jsonOf(await this.#api.call({ method: "GET", path, takes: [200], mostBytes: logBytes }, signal)) as Pods;
  }

  /** Each line once: lines carry the time at which they were written. A container that has not begun has none (400). */
  async #readLogs(pod: string, signal: AbortSignal): Promise<void> {
    const since = this.#lastLine === "" ? "" : `&sinceTime=${encodeURIComponent(this.#lastLine)}`;
    const path = `/api/v1/namespaces/${this.#api.namespace}/pods/${pod}/log?container=${containerName}&timestamps=true${since}`;
    const answer = await this.#api.call({ method: "GET", path, takes: [200, 400, 404], mostBytes: logBytes }, signal);
    if (answer.status !== 200) return;
    let last = this.#lastLine;
    for (const line of answer.body.toString("utf8").split("\n")) {
      const blank = line.indexOf(" ");
      const at = line.slice(0, blank);
      if (blank === -1 || at <= this.#lastLine) continue;
      if (at > last) last = at;
      this.#context.log.info(line.slice(blank + 1));
    }
    this.#lastLine = last;
  }

  #jobs(): string {
    return `/apis/batch/v1/namespaces/${this.#api.namespace}/jobs`;
  }
}

/** Names there have no underscores. */
function nameOf(runId: string, attempt: number): string {
  return `carillon-${runId.replaceAll("_", "-")}-${attempt}`;
}
