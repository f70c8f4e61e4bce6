import { hostname } from "node:os";
import { makeUuidV7, systemClock, systemRandom, systemRandomBytes, systemTimers } from "@carillon/core";
import {
  checkSchema,
  createEngine,
  type Database,
  type DatabaseEvent,
  type DatabaseOptions,
  type Engine,
  type EngineEvent,
  migrate,
  openDatabase,
} from "@carillon/engine";
import { packageVersion } from "../cli/package-version.js";
import { RunSpecs } from "./run-specs.js";

export type Role = "enqueue" | "schedule" | "work";

export interface LibraryOptions {
  /** postgres://user:password@host:5432/database */
  readonly databaseUrl?: string;
  /** The application's own pool of `pg` in place of databaseUrl. Its size and its end are the application's. */
  readonly pool?: NonNullable<DatabaseOptions["pool"]>;
  /** The schema that holds everything; carillon by default. */
  readonly schema?: string;
  /** Connections of this process when it has databaseUrl; 3 by default. */
  readonly connections?: number;
  /** What this process does; everything by default. One that only enqueues fires nothing and runs nothing. */
  readonly roles?: readonly Role[];
  /** Whether the schema is made and brought up to date at the start; true by default. */
  readonly migrate?: boolean;
  readonly namespace?: string;
}

export interface RunningEngine {
  readonly database: Database;
  readonly engine: Engine;
  readonly specs: RunSpecs;
}

const defaultConnections = 3;

/** Opens the database and starts the engine inside this process. */
export async function startLibraryEngine(
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
      alone: false,
      enqueueOnly: isEnqueueOnly(options),
      onEvent,
    });
    await engine.start();
    return { database, engine, specs: new RunSpecs(() => database.clock.now()) };
  } catch (error) {
    await database.close();
    throw error;
  }
}

export function isEnqueueOnly({ roles }: LibraryOptions): boolean {
  return roles !== undefined && !roles.includes("schedule") && !roles.includes("work");
}
