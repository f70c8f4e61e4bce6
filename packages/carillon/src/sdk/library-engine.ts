import { hostname } from "node:os";
import { type DefaultsOf, type JobCreate, normaliseJobRequest, readRegistration } from "@carillon/contract";
import {
  type Instant,
  type JobSpec,
  makeUuidV7,
  systemClock,
  systemRandom,
  systemRandomBytes,
  systemTimers,
} from "@carillon/core";
import {
  checkSchema,
  createEngine,
  type Database,
  type DatabaseEvent,
  type Engine,
  type EngineEvent,
  migrate,
  openDatabase,
} from "@carillon/engine";
import { type TaskDefinition, wireDefaults } from "@carillon/worker";
import { packageVersion } from "../cli/package-version.js";
import { defaultNamespace, isEnqueueOnly, type LibraryOptions } from "./library-options.js";
import { RunSpecs } from "./run-specs.js";

export interface RunningEngine {
  readonly database: Database;
  readonly engine: Engine;
  readonly specs: RunSpecs;
  /** Throws what is wrong with the defaults of a task, as a server does when a worker registers. */
  readonly checkTask: (task: TaskDefinition<never, unknown>) => void;
  /** The last thing: the way to the database, and an embedded one. */
  readonly close: () => Promise<void>;
  /** The definition that a request stands for, in the place of the one that is there. */
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
  const { startSupervisedPostgres } = await import("@carillon/server");
  const postgres = await startSupervisedPostgres(dataDir);
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
    const engine = createEngine({
      database,
      ...ports,
      newId: makeUuidV7({ now: () => database.clock.now(), randomBytes: systemRandomBytes }),
      node: { name: hostname(), address: null, version: packageVersion() },
      alone: options.dataDir !== undefined,
      enqueueOnly: isEnqueueOnly(options),
      onEvent,
    });
    await engine.start();
    const { namespace = defaultNamespace } = options;
    const defaultsOf: DefaultsOf = (task) => engine.api.defaultsOf(namespace, task);
    const specs = new RunSpecs(() => database.clock.now(), defaultsOf);
    const readJob: RunningEngine["readJob"] = (request, now, current) =>
      normaliseJobRequest(request, { now, defaultsOf, ...(current && { current }) }).spec;
    return { database, engine, specs, readJob, checkTask, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function checkTask({ name, defaults }: TaskDefinition<never, unknown>): void {
  const worker = { name: "library", queues: ["default"], tasks: [name], slots: 1 };
  readRegistration({ ...worker, defaults: { [name]: wireDefaults(defaults) } });
}
