import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import {
  type DefaultsOf,
  type JobCreate,
  normaliseJobRequest,
  readRegistration,
  readRunCreate,
  refuseUnsoundPayload,
  type RunCreate,
} from "@carillon/contract";
import {
  CarillonError,
  type EnqueueSpec,
  type Instant,
  type JobSpec,
  JsonText,
  readsPayload,
  makeUuidV7,
  systemClock,
  systemRandom,
  systemRandomBytes,
  systemTimers,
} from "@carillon/core";
import {
  type Database,
  type DatabaseEvent,
  type Engine,
  type EngineEvent,
  EngineHost,
  live,
  checkSchema,
  migrate,
  openDatabase,
} from "@carillon/engine";
import {
  type EnqueueOptions,
  type TaskDefinition,
  type TaskReference,
  runRequest,
  payloadJson,
  taskRefusal,
  wireDefaults,
} from "@carillon/worker";
import { type LibraryOptions, defaultNamespace, isEnqueueOnly } from "./library-options.js";

export interface RunningEngine {
  readonly database: Database;
  /** Of the present history of the database, at each use. */
  readonly engine: Engine;
  readonly gateway: Engine["gateway"];
  readonly stopEngine: () => Promise<void>;
  readonly specs: RunSpecs;
  readonly readRun: (request: RunCreate, namespace: string) => EnqueueSpec;
  /** Throws if the defaults of a task are invalid, as a server does when a worker registers. */
  readonly checkTask: (task: TaskDefinition<never, unknown>) => void;
  /** Closes the connections, and stops an embedded database. */
  readonly close: () => Promise<void>;
  /** The definition that a request describes; `current` is the one that it replaces. */
  readonly readJob: (request: JobCreate, now: Instant, current: JobSpec | null) => JobSpec;
}

const defaultConnections = 3;

/** Opens the database and starts the engine inside this process. */
export async function startLibraryEngine(
  options: LibraryOptions,
  onEvent: (event: EngineEvent | DatabaseEvent) => void,
): Promise<RunningEngine> {
  const { dataDir } = options;
  if (dataDir === undefined) return startOver(options, onEvent);
  const postgres = await startPostgres(dataDir);
  try {
    const running = await startOver({ ...options, databaseUrl: postgres.url }, onEvent);
    const close = async (): Promise<void> => {
      await running.close();
      await postgres.stop();
    };
    return { ...running, close };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** The libraries of the server, the embedded PostgreSQL among them, are optional dependencies. */
async function startPostgres(dataDir: string) {
  const server = await import("@carillon/server").catch((cause: unknown) => {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ERR_MODULE_NOT_FOUND")) throw cause;
    throw new CarillonError(
      "config_invalid",
      "The option dataDir needs packages that npm left out, as --omit=optional asks for. Install them with: npm install carillon --include=optional",
      { cause },
    );
  });
  return server.startSupervisedPostgres(dataDir);
}

async function startOver(
  options: LibraryOptions,
  onEvent: (event: EngineEvent | DatabaseEvent) => void,
): Promise<RunningEngine> {
  const { databaseUrl, pool, schema = "carillon", connections = defaultConnections } = options;
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({
    ...(databaseUrl !== undefined && { url: databaseUrl, poolSize: connections }),
    ...(pool !== undefined && { pool }),
    schema,
    ...ports,
    onEvent,
  });
  try {
    await (options.migrate === false ? checkSchema(database) : migrate(database));
    const host = new EngineHost({
      database,
      ...ports,
      newId: makeUuidV7({ now: () => database.clock.now(), randomBytes: systemRandomBytes }),
      node: { name: hostname(), address: null, version: packageVersion() },
      alone: options.dataDir !== undefined,
      enqueueOnly: isEnqueueOnly(options),
      onEvent,
    });
    await host.start();
    const engine = live(() => host.engine);
    const stopEngine = (): Promise<void> => host.stop();
    const { namespace = defaultNamespace } = options;
    const defaultsOf: DefaultsOf = (task) => engine.tasks.defaultsOf(namespace, task);
    const specs = new RunSpecs(() => database.clock.now(), defaultsOf);
    const readJob: RunningEngine["readJob"] = (request, now, current) =>
      normaliseJobRequest(request, { now, defaultsOf, ...(current && { current }) }).spec;
    const readRun: RunningEngine["readRun"] = (request, place) =>
      readRunCreate(request, { now: database.clock.now(), defaultsOf: (task) => engine.tasks.defaultsOf(place, task) });
    return {
      database,
      engine,
      gateway: live(() => host.engine.gateway),
      stopEngine,
      specs,
      readRun,
      readJob,
      checkTask,
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function checkTask({ name, defaults }: TaskDefinition<never, unknown>): void {
  const worker = { name: "library", queues: ["default"], tasks: [name], slots: 1 };
  try {
    readRegistration({ ...worker, defaults: { [name]: wireDefaults(defaults) } });
  } catch (error) {
    throw (error instanceof CarillonError && taskRefusal(error.items)) || error;
  }
}

/** The spec of a task for runs without options, and the defaults that it was made with. */
interface BareTask {
  readonly spec: EnqueueSpec;
  readonly defaults: ReturnType<DefaultsOf>;
}

/**
 * Turns calls into the engine's specs. Most calls give a payload and nothing else: for those the task is read once, and each call only
 * validates its payload and writes it as JSON once.
 */
export class RunSpecs {
  readonly #now: () => Instant;
  readonly #defaultsOf: DefaultsOf;
  readonly #bare = new WeakMap<object, BareTask>();

  /** `now` is the scheduler's clock: delays count from it. */
  constructor(now: () => Instant, defaultsOf: DefaultsOf) {
    this.#now = now;
    this.#defaultsOf = defaultsOf;
  }

  /** A promise only if the schema is asynchronous: a promise per call would cost thousands of calls per second. */
  read<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): EnqueueSpec | Promise<EnqueueSpec> {
    const bare = typeof task === "string" || !isEmpty(options) ? undefined : this.#bareOf(task);
    if (bare === undefined) return this.#readWhole(task, payload, options);
    const text = payloadJson(task, payload);
    return typeof text === "string" ? withPayload(bare, text) : text.then((sound) => withPayload(bare, sound));
  }

  async #readWhole<Input>(task: TaskReference<Input>, payload: Input, options: EnqueueOptions): Promise<EnqueueSpec> {
    const request = await runRequest(task, payload, options);
    const spec = readRunCreate(request, { now: this.#now(), defaultsOf: this.#defaultsOf });
    if (typeof task !== "string" && isEmpty(options))
      this.#bare.set(task, { spec: { ...spec, payload: null }, defaults: this.#defaultsOf(task.name) });
    return spec;
  }

  /** Undefined if the task was not read yet, or its workers registered other defaults since. */
  #bareOf(task: Exclude<TaskReference<never>, string>): EnqueueSpec | undefined {
    const bare = this.#bare.get(task);
    return bare !== undefined && bare.defaults === this.#defaultsOf(task.name) ? bare.spec : undefined;
  }
}

function withPayload(bare: EnqueueSpec, text: string): EnqueueSpec {
  refuseUnsoundPayload(text);
  const payload: unknown = readsPayload(bare.policy) ? JSON.parse(text) : new JsonText(text);
  return { ...bare, payload };
}

function isEmpty(options: EnqueueOptions): boolean {
  for (const _ in options) return false;
  return true;
}

/** The version of the installed package, from its own manifest. */
function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  if (typeof manifest === "object" && manifest !== null && "version" in manifest) return String(manifest.version);
  throw new Error("The package's manifest has no version.");
}
