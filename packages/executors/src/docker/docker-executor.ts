import {
  type CreateExecutors,
  type Executor,
  type ExecutorHost,
  faultsOf,
  followWork,
  NonRetryableError,
} from "@carillon/worker";
import { type ContainerEnd, ContainerWork } from "./container-work.js";
import { DockerApi } from "./docker-api.js";
import { type DockerPayload, readDockerPayload } from "./docker-payload.js";

const usualHost = "unix:///var/run/docker.sock";

/** A container ended with a code that is no success. */
export class ContainerFailedError extends Error {
  override readonly name = "ContainerFailedError";
}

/** Runs a container to its end: DOCKER_HOST says where. A worker that takes a run over goes on with the container that is there. */
export function dockerExecutor(host: ExecutorHost): Executor {
  return {
    name: "docker",
    check: (payload) => faultsOf(readDockerPayload, payload),
    run: async (payload, context) => {
      const read = readDockerPayload(payload);
      const api = new DockerApi(host.env["DOCKER_HOST"] ?? usualHost, host.timers);
      const work = new ContainerWork(api, read, await envOf(read, host, context), context);
      const end = await followWork(work, { signal: context.signal, timers: host.timers, everyMs: read.everyMs });
      await work.remove(context.signal);
      return judged(read, end);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [dockerExecutor(host)];

async function envOf(
  { env, secretEnv }: DockerPayload,
  { secrets }: ExecutorHost,
  { runId, attempt, fence, idempotencyKey }: Parameters<Executor["run"]>[1],
): Promise<string[]> {
  const own = {
    CARILLON_RUN_ID: runId,
    CARILLON_ATTEMPT: String(attempt),
    CARILLON_FENCE: String(fence),
    CARILLON_IDEMPOTENCY_KEY: idempotencyKey,
  };
  const all: Record<string, string> = { ...env };
  for (const [name, secret] of Object.entries(secretEnv)) {
    const value = await secrets.find(secret);
    if (value === undefined) throw new NonRetryableError(`this worker has no secret ${JSON.stringify(secret)}`);
    all[name] = value;
  }
  return Object.entries({ ...all, ...own }).map(([name, value]) => `${name}=${value}`);
}

function judged({ successCode, image }: DockerPayload, { exitCode, isOutOfMemory }: ContainerEnd): unknown {
  if (exitCode === successCode) return { exit_code: exitCode };
  const why = isOutOfMemory ? ", out of memory" : "";
  throw new ContainerFailedError(`the container of ${image} ended with code ${exitCode}${why}`);
}
