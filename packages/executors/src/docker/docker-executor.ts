import { present } from "@carillon/core";
import {
  type Executor,
  type ExecutorHost,
  faultsOf,
  followWork,
  NonRetryableError,
  PayloadReader,
  type RemoteWork,
  secretName,
  type TaskContext,
  type TaskLog,
} from "@carillon/worker";
import { RemoteApi } from "../remote-api.js";
import { runVariables, secretVariables } from "../run-environment.js";
import { dockerEngine } from "./docker-engine.js";

/** A container ended with another exit code than its success code. */
class ContainerFailedError extends Error {
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

function outputOf({ successCode, image }: DockerPayload, { exitCode, isOutOfMemory }: ContainerEnd): unknown {
  if (exitCode === successCode) return { exit_code: exitCode };
  const why = isOutOfMemory ? ", out of memory" : "";
  throw new ContainerFailedError(`The container of ${image} ended with code ${exitCode}${why}.`);
}

const imagePattern = /^[a-z0-9][a-z0-9._\-/:]*(?:@sha256:[0-9a-f]{64})?$/i;

type DockerPayload = ReturnType<typeof readDockerPayload>;

/** Throws a PayloadError that names every fault. */
function readDockerPayload(payload: unknown) {
  const reader = new PayloadReader("docker", payload);
  const secretEnv = reader.texts("secret_env");
  for (const [name, secret] of Object.entries(secretEnv))
    if (!secretName.test(secret)) reader.fault("secret_env", `must have the name of a secret at ${name}`);
  const cpus = reader.value("cpus");
  if (cpus !== undefined && !(typeof cpus === "number" && cpus > 0 && cpus <= 1_024))
    reader.fault("cpus", "must be a number such as 0.5");
  const read = {
    image: reader.requiredText("image", { max: 500, pattern: imagePattern, words: "an image such as alpine:3" }),
    command: reader.list("command"),
    entrypoint: reader.list("entrypoint"),
    env: reader.texts("env"),
    // Names of secrets by variable.
    secretEnv,
    workdir: reader.text("workdir", { max: 4_096 }),
    network: reader.text("network", { max: 200, pattern: /^[\w.-]+$/, words: "the name of a network" }),
    memoryBytes: reader.whole("memory_bytes", 6_291_456, Number.MAX_SAFE_INTEGER),
    nanoCpus: typeof cpus === "number" ? Math.round(cpus * 1e9) : undefined,
    pull: reader.oneOf("pull", ["missing", "always", "never"]) ?? "missing",
    successCode: reader.whole("success_code", 0, 255) ?? 0,
    everyMs: reader.duration("poll_every", 60_000) ?? 1_000,
  };
  reader.end();
  return read;
}

interface ContainerEnd {
  readonly exitCode: number;
  readonly isOutOfMemory: boolean;
}

interface Inspection {
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly OOMKilled?: boolean };
}

const pullTimeoutMs = 900_000;
const maxPullBytes = 67_108_864;
const maxLogBytes = 4_194_304;
const stopSeconds = 10;

/** One container per attempt, named after it, so that a worker that takes over the attempt finds it. */
class ContainerWork implements RemoteWork<ContainerEnd> {
  readonly #name: string;
  readonly #api: RemoteApi;
  readonly #payload: DockerPayload;
  readonly #env: Readonly<Record<string, string>>;
  readonly #context: TaskContext;
  readonly #log: ContainerLog;

  constructor(api: RemoteApi, payload: DockerPayload, env: Readonly<Record<string, string>>, context: TaskContext) {
    this.#name = nameOf(context.runId, context.attempt);
    this.#api = api;
    this.#payload = payload;
    this.#env = env;
    this.#context = context;
    this.#log = new ContainerLog(context.log);
  }

  async begin(signal: AbortSignal): Promise<void> {
    const { attempt, runId } = this.#context;
    const { image, pull } = this.#payload;
    // A container of the attempt before may still work.
    if (attempt > 1) await this.#remove(nameOf(runId, attempt - 1), signal);
    if (pull === "always") await this.#pull(signal);
    if (!(await this.#create(signal))) {
      if (pull === "never") throw new NonRetryableError(`There is no image ${image}.`);
      await this.#pull(signal);
      if (!(await this.#create(signal))) throw new NonRetryableError(`There is no image ${image}.`);
    }
    // An adopted container may run already, or have ended.
    if ((await this.#inspect(signal)).State.Status !== "created") return;
    await this.#api.call({ method: "POST", path: `/containers/${this.#name}/start`, expected: [204, 304] }, signal);
  }

  async poll(signal: AbortSignal): Promise<ContainerEnd | null> {
    const { State: state } = await this.#inspect(signal);
    await this.#readLog(signal);
    if (state.Status !== "exited" && state.Status !== "dead") return null;
    return { exitCode: state.ExitCode, isOutOfMemory: state.OOMKilled === true };
  }

  async stop(signal: AbortSignal): Promise<void> {
    const path = `/containers/${this.#name}/stop?t=${stopSeconds}`;
    await this.#api.call({ method: "POST", path, expected: [204, 304, 404] }, signal);
    await this.remove(signal);
  }

  remove(signal: AbortSignal): Promise<void> {
    return this.#remove(this.#name, signal);
  }

  /** False: there is no such image. A container of this name (409) is adopted. */
  async #create(signal: AbortSignal): Promise<boolean> {
    const { image, command, entrypoint, workdir, network, memoryBytes, nanoCpus } = this.#payload;
    const body = {
      Image: image,
      ...present({ Cmd: command, Entrypoint: entrypoint, WorkingDir: workdir }),
      Env: Object.entries(this.#env).map(([name, value]) => `${name}=${value}`),
      Labels: { "carillon.run": this.#context.runId, "carillon.attempt": String(this.#context.attempt) },
      HostConfig: {
        ...present({ NetworkMode: network, Memory: memoryBytes, NanoCpus: nanoCpus }),
        SecurityOpt: ["no-new-privileges"],
      },
    };
    const path = `/containers/create?name=${this.#name}`;
    const { status } = await this.#api.call({ method: "POST", path, body, expected: [201, 404, 409] }, signal);
    return status !== 404;
  }

  async #pull(signal: AbortSignal): Promise<void> {
    const path = `/images/create?fromImage=${encodeURIComponent(withTag(this.#payload.image))}`;
    this.#context.log.info(`pulling ${this.#payload.image}`);
    const limits = { totalMs: pullTimeoutMs, maxBytes: maxPullBytes };
    await this.#api.call({ method: "POST", path, expected: [200], ...limits }, signal);
  }

  #inspect(signal: AbortSignal): Promise<Inspection> {
    return this.#api.json({ method: "GET", path: `/containers/${this.#name}/json`, expected: [200] }, signal);
  }

  async #readLog(signal: AbortSignal): Promise<void> {
    const path = `/containers/${this.#name}/logs?stdout=1&stderr=1&timestamps=1&since=${this.#log.since}`;
    const { body } = await this.#api.call({ method: "GET", path, expected: [200], maxBytes: maxLogBytes }, signal);
    this.#log.add(body);
  }

  async #remove(name: string, signal: AbortSignal): Promise<void> {
    const path = `/containers/${name}?force=1&v=1`;
    await this.#api.call({ method: "DELETE", path, expected: [204, 404, 409] }, signal);
  }
}

function nameOf(runId: string, attempt: number): string {
  return `carillon-${runId}-${attempt}`;
}

/** Without a tag, the engine would pull all of them. */
function withTag(image: string): string {
  return image.includes("@") || /:[^/]*$/.test(image) ? image : `${image}:latest`;
}

/** Copies the lines of a container to the log of its run, each once: every line begins with the time at which it was written. */
class ContainerLog {
  readonly #log: TaskLog;
  #last = "";

  constructor(log: TaskLog) {
    this.#log = log;
  }

  /** For the query: seconds. Lines of the same second are read again and skipped. */
  get since(): string {
    const ms = Date.parse(this.#last);
    return Number.isNaN(ms) ? "0" : String(Math.floor(ms / 1_000));
  }

  add(body: Buffer): void {
    let last = this.#last;
    for (const { stream, text } of framesOf(body)) {
      for (const line of text.split("\n")) {
        const blank = line.indexOf(" ");
        const at = line.slice(0, blank);
        if (blank === -1 || at <= this.#last) continue;
        if (at > last) last = at;
        if (stream === "stderr") this.#log.warn(line.slice(blank + 1), { stream });
        else this.#log.info(line.slice(blank + 1));
      }
    }
    this.#last = last;
  }
}

interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
}

const headerBytes = 8;

/** Both streams share one body, in frames: one byte names the stream, four bytes are the length. Output of a terminal has no frames. */
function framesOf(body: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + headerBytes <= body.length;) {
    const kind = body[at] ?? 0;
    if (kind > 2 || body.readUIntBE(at + 1, 3) !== 0) return [{ stream: "stdout", text: body.toString("utf8") }];
    const end = at + headerBytes + body.readUInt32BE(at + 4);
    frames.push({ stream: kind === 2 ? "stderr" : "stdout", text: body.toString("utf8", at + headerBytes, end) });
    at = end;
  }
  return frames;
}
