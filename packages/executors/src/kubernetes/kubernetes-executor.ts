import {
  type Executor,
  type ExecutorHost,
  faultsOf,
  followWork,
  type RemoteWork,
  type TaskContext,
} from "@carillon/worker";
import { RemoteApi } from "../remote-api.js";
import { findCluster } from "./cluster.js";
import { containerName, jobManifest, type KubernetesPayload, readKubernetesPayload } from "./job-manifest.js";

export interface KubernetesOptions {
  /** Where to search for @kubernetes/client-node first; the working directory by default. */
  readonly cwd?: string;
}

/** A Job of the cluster failed. */
class JobFailedError extends Error {
  override readonly name = "JobFailedError";
}

/** Runs a Job of the cluster to its end. A worker that takes over a run follows the Job that the run already has. */
export function kubernetesExecutor(host: ExecutorHost, { cwd }: KubernetesOptions = {}): Executor {
  const open = findCluster(host, cwd);
  const { timers } = host;
  return {
    name: "kubernetes",
    check: (payload) => faultsOf(readKubernetesPayload, payload),
    run: async (payload, context) => {
      const read = readKubernetesPayload(payload);
      const { namespace, address } = await open();
      const work = new JobWork(new RemoteApi("Kubernetes", address, timers), namespace, read, context);
      const options = { signal: context.signal, timers, everyMs: read.everyMs };
      const { hasSucceeded, exitCode, message } = await followWork(work, options);
      if (hasSucceeded) return { job: work.name, exit_code: exitCode };
      const code = exitCode === null ? "" : ` with code ${exitCode}`;
      throw new JobFailedError(`The Job ${work.name} failed${code}${message === "" ? "." : `: ${message}`}`);
    },
  };
}

interface JobEnd {
  readonly hasSucceeded: boolean;
  readonly exitCode: number | null;
  readonly message: string;
}

interface Job {
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

const maxAnswerBytes = 4_194_304;

/** One Job per attempt, named after it, so that a worker that takes over the attempt finds it. */
class JobWork implements RemoteWork<JobEnd> {
  readonly name: string;
  readonly #api: RemoteApi;
  readonly #jobs: string;
  readonly #pods: string;
  readonly #payload: KubernetesPayload;
  readonly #context: TaskContext;
  #lastLine = "";

  constructor(api: RemoteApi, namespace: string, payload: KubernetesPayload, context: TaskContext) {
    this.name = nameOf(context.runId, context.attempt);
    this.#api = api;
    this.#jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    this.#pods = `/api/v1/namespaces/${namespace}/pods`;
    this.#payload = payload;
    this.#context = context;
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { attempt, runId } = this.#context;
    // A Job of the attempt before may still work.
    if (attempt > 1) await this.#delete(nameOf(runId, attempt - 1), signal);
    const body = jobManifest(this.name, this.#payload, this.#context);
    // A Job of this name (409) is adopted.
    await this.#api.call({ method: "POST", path: this.#jobs, body, expected: [201, 409] }, signal);
  }

  async poll(signal: AbortSignal): Promise<JobEnd | null> {
    const path = `${this.#jobs}/${this.name}`;
    const { status } = await this.#api.json<Job>({ method: "GET", path, expected: [200] }, signal);
    const ended = status?.conditions?.find(
      (condition) => condition.status === "True" && (condition.type === "Complete" || condition.type === "Failed"),
    );
    const pod = (await this.#podsOfJob(signal)).items.at(-1);
    if (pod !== undefined) await this.#readLog(pod.metadata.name, signal);
    if (ended === undefined) return null;
    const container = pod?.status?.containerStatuses?.[0]?.state?.terminated;
    const message = [ended.message, container?.reason].filter((text) => text !== undefined && text !== "").join("; ");
    return { hasSucceeded: ended.type === "Complete", exitCode: container?.exitCode ?? null, message };
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#delete(this.name, signal);
  }

  async #delete(name: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#jobs}/${name}`;
    const body = { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" };
    await this.#api.call({ method: "DELETE", path, body, expected: [200, 202, 404] }, signal);
  }

  #podsOfJob(signal: AbortSignal): Promise<Pods> {
    const path = `${this.#pods}?labelSelector=${encodeURIComponent(`job-name=${this.name}`)}`;
    return this.#api.json({ method: "GET", path, expected: [200], maxBytes: maxAnswerBytes }, signal);
  }

  /** Logs each line once: a line begins with the time at which it was written. A container that has not started has no log (400). */
  async #readLog(pod: string, signal: AbortSignal): Promise<void> {
    const since = this.#lastLine === "" ? "" : `&sinceTime=${encodeURIComponent(this.#lastLine)}`;
    const path = `${this.#pods}/${pod}/log?container=${containerName}&timestamps=true${since}`;
    const expected = [200, 400, 404];
    const answer = await this.#api.call({ method: "GET", path, expected, maxBytes: maxAnswerBytes }, signal);
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
}

/** Names of Kubernetes have no underscores. */
function nameOf(runId: string, attempt: number): string {
  return `carillon-${runId.replaceAll("_", "-")}-${attempt}`;
}
