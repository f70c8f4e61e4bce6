import { type CreateExecutors, type Executor, type ExecutorHost, faultsOf, followWork } from "@carillon/worker";
import { RemoteApi } from "../remote-api.js";
import { findCluster } from "./cluster.js";
import { readKubernetesPayload } from "./job-manifest.js";
import { JobWork } from "./job-work.js";

export interface KubernetesOptions {
  /** Where to search for @kubernetes/client-node first; the working directory by default. */
  readonly cwd?: string;
}

/** A Job of the cluster failed. */
export class JobFailedError extends Error {
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

export const createExecutors: CreateExecutors = (host) => [kubernetesExecutor(host)];
