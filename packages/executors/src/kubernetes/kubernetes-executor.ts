import { type CreateExecutors, type Executor, type ExecutorHost, faultsOf, followWork } from "@carillon/worker";
import { JobWork } from "./job-work.js";
import { openKubernetes } from "./kubernetes-api.js";
import { readKubernetesPayload } from "./kubernetes-payload.js";

/** A Job of the cluster failed. */
export class JobFailedError extends Error {
  override readonly name = "JobFailedError";
}

/** Runs a Job of the cluster to its end. A worker that takes a run over goes on with the Job that is there. */
export function kubernetesExecutor(host: ExecutorHost): Executor {
  return {
    name: "kubernetes",
    check: (payload) => faultsOf(readKubernetesPayload, payload),
    run: async (payload, context) => {
      const read = readKubernetesPayload(payload);
      const work = new JobWork(await openKubernetes(host), read, context);
      const options = { signal: context.signal, timers: host.timers, everyMs: read.everyMs };
      const { hasSucceeded, exitCode, message } = await followWork(work, options);
      if (hasSucceeded) return { job: work.name, exit_code: exitCode };
      const code = exitCode === null ? "" : ` with code ${exitCode}`;
      throw new JobFailedError(`the job ${work.name} failed${code}${message === "" ? "" : `: ${message}`}`);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [kubernetesExecutor(host)];
