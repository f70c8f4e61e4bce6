import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CarillonError, systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import {
  type Database,
  type DatabaseEvent,
  type DatabaseOptions,
  dropSchema,
  migrate,
  type MigrateReport,
  serverWarnings,
  waitForDatabase,
} from "@carillon/engine";
import type { Logger } from "pino";
import { logDatabaseEvent } from "./event-log.js";
import { createLogger } from "./logger.js";
import { HoldingService, type NodeContext, type Service } from "./service.js";

/** The connection options of this configuration; the URL is that of the embedded database if none is configured. */
export function databaseOptions(
  { config, logger }: Pick<NodeContext, "config" | "logger">,
  url: string,
  onEvent?: (event: DatabaseEvent) => void,
): DatabaseOptions {
  return {
    url,
    ...(config.databaseDirectUrl !== null && { directUrl: config.databaseDirectUrl }),
    schema: config.databaseSchema,
    poolSize: config.databasePoolSize,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    onEvent: (event) => {
      onEvent?.(event);
      logDatabaseEvent(logger, event);
    },
  };
}

/** The same reason is logged again after this time. */
const LOG_AGAIN_MS = 5_000;

/** Opens the connections as soon as the database answers. When the database is lost later, the connections reconnect. */
export class DatabaseService extends HoldingService<Database> {
  readonly name = "database";
  readonly #context: NodeContext;
  readonly #url: () => string;
  readonly #onEvent: ((event: DatabaseEvent) => void) | undefined;

  constructor(context: NodeContext, url: () => string, onEvent?: (event: DatabaseEvent) => void) {
    super();
    this.#context = context;
    this.#url = url;
    this.#onEvent = onEvent;
  }

  protected acquire(): Promise<Database> {
    const { config, logger, stopping } = this.#context;
    const logged = { message: "", leftMs: 0 };
    return waitForDatabase(databaseOptions(this.#context, this.#url(), this.#onEvent), {
      deadlineMs: config.databaseConnectTimeout,
      signal: stopping,
      onWait: (message, leftMs) => {
        if (message === logged.message && logged.leftMs - leftMs < LOG_AGAIN_MS) return;
        Object.assign(logged, { message, leftMs });
        const left = `${Math.ceil(leftMs / 1000)} s left`;
        logger.warn({ component: this.name }, `waiting for the database, ${left}: ${message}`);
      },
    });
  }

  protected release(database: Database): Promise<void> {
    return database.close();
  }
}

interface MigrateOptions {
  readonly dryRun: boolean;
}

/** Migrates the schema, and logs each step. */
export function migrateWithLog(database: Database, logger: Logger, { dryRun }: MigrateOptions): Promise<MigrateReport> {
  const log = logger.child({ component: "schema" });
  return migrate(database, {
    dryRun,
    onWait: (message) => log.info(message),
    onApplied: (migration) => log.debug({ migration }, "migration applied"),
  });
}

/** Migrates the schema before other services use it. */
export class SchemaService implements Service {
  readonly name = "schema";
  readonly #context: NodeContext;
  readonly #database: () => Database;
  readonly #reset: boolean;

  constructor(context: NodeContext, database: () => Database, reset: boolean) {
    this.#context = context;
    this.#database = database;
    this.#reset = reset;
  }

  async start(): Promise<void> {
    const { config, logger } = this.#context;
    const database = this.#database();
    if (this.#reset) {
      await dropSchema(database);
      logger.warn({ component: this.name, schema: database.schema }, "the old schema was dropped");
    }
    const { applied } = await migrateWithLog(database, logger, { dryRun: false });
    const about = { component: this.name, schema: database.schema, migrations: applied.length };
    logger[applied.length === 0 ? "debug" : "info"](about, "schema is up to date");
    for (const { message, ...setting } of await serverWarnings(database, config.databasePoolSize)) {
      logger.warn({ component: "database", ...setting }, message);
    }
  }

  async stop(): Promise<void> {}
}

/** The services for the database: the embedded one, unless another is configured, and the connections. */
export interface DatabaseServices {
  readonly embedded: EmbeddedPostgresService | null;
  readonly database: DatabaseService;
  /** In the order of their start. */
  readonly services: readonly Service[];
}

export function databaseServices(context: NodeContext, onEvent?: (event: DatabaseEvent) => void): DatabaseServices {
  const { databaseUrl } = context.config;
  if (databaseUrl !== null) {
    const database = new DatabaseService(context, () => databaseUrl, onEvent);
    return { embedded: null, database, services: [database] };
  }
  const embedded = new EmbeddedPostgresService(context);
  const database = new DatabaseService(context, () => embedded.server.url, onEvent);
  return { embedded, database, services: [embedded, database] };
}

/** The pause before a restart, so that a server that always crashes does not keep the machine busy. */
const RESTART_PAUSE_MS = 1_000;

export interface EmbeddedContext extends Pick<NodeContext, "logger" | "stopping"> {
  readonly config: Pick<NodeContext["config"], "dataDir">;
}

/** The node's own PostgreSQL. After a crash it is started again on the same port, and its URL stays the same. */
class EmbeddedPostgresService implements Service {
  readonly name = "postgres";
  readonly #context: EmbeddedContext;
  #server: EmbeddedPostgres | null = null;
  #guard: Promise<void> = Promise.resolve();
  #ending = new AbortController();

  constructor(context: EmbeddedContext) {
    this.#context = context;
  }

  get server(): EmbeddedPostgres {
    if (this.#server === null) throw new Error("The embedded PostgreSQL was used before it was started.");
    return this.#server;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    this.#ending = new AbortController();
    this.#server = await this.#launch(this.#context.stopping);
    // Until its own stop: a node that drains needs its database to the end.
    this.#guard = this.#keepAlive(this.#server, this.#ending.signal);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#server?.stop();
    await this.#guard;
    // The guard may have started another server meanwhile.
    await this.#server?.stop();
    this.#server = null;
  }

  /** Signals the server to stop, without waiting: for a process that exits at once. */
  abandon(): void {
    this.#ending.abort();
    if (this.#server === null) return;
    try {
      process.kill(this.#server.pid, "SIGINT");
    } catch {
      // The server has exited already.
    }
  }

  async #launch(signal: AbortSignal, port?: number): Promise<EmbeddedPostgres> {
    const { config, logger } = this.#context;
    const log = (line: string): void => logger.info({ component: this.name }, line);
    const samePort = port === undefined ? {} : { port };
    try {
      return await startEmbeddedPostgres({ dataDir: config.dataDir, log, signal, ...samePort });
    } catch (error) {
      if (!(error instanceof EmbeddedPostgresError)) throw error;
      throw new CarillonError("embedded_postgres_failed", error.message, { cause: error });
    }
  }

  async #keepAlive(first: EmbeddedPostgres, ending: AbortSignal): Promise<void> {
    const log = this.#context.logger.child({ component: this.name });
    for (let server = first; ;) {
      await server.exited;
      if (ending.aborted) return;
      log.error("PostgreSQL exited unexpectedly; restarting it");
      try {
        await server.stop();
        await pause(RESTART_PAUSE_MS, ending);
        server = await this.#launch(ending, server.port);
        this.#server = server;
        log.info("PostgreSQL was restarted");
      } catch (error) {
        if (!ending.aborted) log.error({ err: error }, "PostgreSQL could not be restarted");
      }
    }
  }
}

/** Resolves after the time, or as soon as the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

export interface SupervisedPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** An embedded PostgreSQL for a program that is not a node. It is restarted after a crash; errors go to standard error. */
export async function startSupervisedPostgres(dataDir: string): Promise<SupervisedPostgres> {
  const { stderr } = process;
  const logger = createLogger(
    { logLevel: "warn", logFormat: "auto" },
    { stream: stderr, isTerminal: stderr.isTTY, colour: false },
  );
  const stopping = new AbortController();
  const service = new EmbeddedPostgresService({
    config: { dataDir: resolve(dataDir) },
    logger,
    stopping: stopping.signal,
  });
  await service.start();
  return { url: service.server.url, stop: () => service.stop() };
}
