import { type CreateExecutors, type Executor, type ExecutorHost, faultsOf, followWork } from "@carillon/worker";
import { RemoteApi } from "../remote-api.js";
import { runVariables, secretVariables } from "../run-environment.js";
import { type ContainerEnd, ContainerWork } from "./container-work.js";
import { dockerEngine } from "./docker-engine.js";
import { type DockerPayload, readDockerPayload } from "./docker-payload.js";

/** A container ended with another exit code than its success code. */
export class ContainerFailedError extends Error {
  override readonly name = "ContainerFailedError";
}

/** Runs a container to its end. A worker that takes over a run follows the container that the run already has. */
export function dockerExecutor(host: ExecutorHost): Executor {
  const { env, secrets, timers } = host;
  return {
    name: "docker",
    check: (payload) => faultsOf(readDockerPayload, payload),
    run: async (payload, context) => {
      const read = readDockerPayload(payload);
      const variables = { ...read.env, ...(await secretVariables(read.secretEnv, secrets)), ...runVariables(context) };
      const address = await dockerEngine(env);
      const api = new RemoteApi("Docker", () => Promise.resolve(address), timers);
      const work = new ContainerWork(api, read, variables, context);
      const end = await followWork(work, { signal: context.signal, timers, everyMs: read.everyMs });
      await work.remove(context.signal);
      return outputOf(read, end);
    },
  };
}

export const createExecutors: CreateExecutors = (host) => [dockerExecutor(host)];

function outputOf({ successCode, image }: DockerPayload, { exitCode, isOutOfMemory }: ContainerEnd): unknown {
  if (exitCode === successCode) return { exit_code: exitCode };
  const why = isOutOfMemory ? ", out of memory" : "";
  throw new ContainerFailedError(`The container of ${image} ended with code ${exitCode}${why}.`);
}
