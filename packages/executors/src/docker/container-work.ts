import { NonRetryableError, type RemoteWork, type TaskContext } from "@carillon/worker";
import { ContainerLogs } from "./container-logs.js";
import { type DockerApi, jsonOf } from "./docker-api.js";
import type { DockerPayload } from "./docker-payload.js";

export interface ContainerEnd {
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
}

interface Inspected {
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly OOMKilled?: boolean };
}

const pullWithinMs = 900_000;
const logBytes = 4_194_304;
const stopSeconds = 10;

/** One container per attempt, named after it: a worker that takes an attempt over finds what was begun. */
export class ContainerWork implements RemoteWork<ContainerEnd> {
  readonly name: string;
  readonly #api: DockerApi;
  readonly #payload: DockerPayload;
  readonly #env: readonly string[];
  readonly #context: TaskContext;
  readonly #logs: ContainerLogs;

  constructor(api: DockerApi, payload: DockerPayload, env: readonly string[], context: TaskContext) {
    this.name = nameOf(context.runId, context.attempt);
    this.#api = api;
    this.#payload = payload;
    this.#env = env;
    this.#context = context;
    this.#logs = new ContainerLogs(context.log);
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { attempt, runId } = this.#context;
    // What an earlier attempt may have left must not work beside this one.
    if (attempt > 1) await this.#remove(nameOf(runId, attempt - 1), signal);
    if (this.#payload.pull === "always") await this.#pull(signal);
    if (!(await this.#create(signal))) {
      if (this.#payload.pull === "never") throw new NonRetryableError(`there is no image ${this.#payload.image}`);
      await this.#pull(signal);
      if (!(await this.#create(signal))) throw new NonRetryableError(`there is no image ${this.#payload.image}`);
    }
    // One that was adopted may have been started, or may be over.
    if ((await this.#inspect(signal)).State.Status !== "created") return;
    await this.#api.call({ method: "POST", path: `/containers/${this.name}/start`, takes: [204, 304] }, signal);
  }

  async look(signal: AbortSignal): Promise<ContainerEnd | null> {
    const { State: state } = await this.#inspect(signal);
    await this.#readLogs(signal);
    if (state.Status !== "exited" && state.Status !== "dead") return null;
    return { exitCode: state.ExitCode, isOutOfMemory: state.OOMKilled === true };
  }

  async stop(signal: AbortSignal): Promise<void> {
    const path = `/containers/${this.name}/stop?t=${stopSeconds}`;
    await this.#api.call({ method: "POST", path, takes: [204, 304, 404] }, signal);
    await this.remove(signal);
  }

  remove(signal: AbortSignal): Promise<void> {
    return this.#remove(this.name, signal);
  }

  /** False: the image is not there. */
  async #create(signal: AbortSignal): Promise<boolean> {
    const { image, command, entrypoint, workdir, network, memoryBytes, nanoCpus } = this.#payload;
    const body = {
      Image: image,
      ...(command !== undefined && { Cmd: command }),
      ...(entrypoint !== undefined && { Entrypoint: entrypoint }),
      ...(workdir !== undefined && { WorkingDir: workdir }),
      Env: this.#env,
      Labels: { "carillon.run": this.#context.runId, "carillon.attempt": String(this.#context.attempt) },
      HostConfig: {
        ...(network !== undefined && { NetworkMode: network }),
        ...(memoryBytes !== undefined && { Memory: memoryBytes }),
        ...(nanoCpus !== undefined && { NanoCpus: nanoCpus }),
        SecurityOpt: ["no-new-privileges"],
      },
    };
    const path = `/containers/create?name=${this.name}`;
    const answer = await this.#api.call({ method: "POST", path, body, takes: [201, 404, 409] }, signal);
    return answer.status !== 404;
  }

  async #pull(signal: AbortSignal): Promise<void> {
    const path = `/images/create?fromImage=${encodeURIComponent(withTag(this.#payload.image))}`;
    this.#context.log.info(`pulling ${this.#payload.image}`);
    await this.#api.call({ method: "POST", path, takes: [200], totalMs: pullWithinMs, mostBytes: 67_108_864 }, signal);
  }

  async #inspect(signal: AbortSignal): Promise<Inspected> {
    const path = `/containers/${this.name}/json`;
    return jsonOf(await this.#api.call({ method: "GET", path, takes: [200] }, signal)) as Inspected;
  }

  async #readLogs(signal: AbortSignal): Promise<void> {
    const path = `/containers/${this.name}/logs?stdout=1&stderr=1&timestamps=1&since=${this.#logs.since}`;
    const { body } = await this.#api.call({ method: "GET", path, takes: [200], mostBytes: logBytes }, signal);
    this.#logs.add(body);
  }

  async #remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#api.call({ method: "DELETE", path: `/containers/${name}?force=1&v=1`, takes: [204, 404, 409] }, signal);
  }
}

function nameOf(runId: string, attempt: number): string {
  return `carillon-${runId}-${attempt}`;
}

/** Without one, all tags would be pulled. */
function withTag(image: string): string {
  return image.includes("@") || /:[^/]*$/.test(image) ? image : `${image}:latest`;
}
