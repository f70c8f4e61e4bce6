import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import {
  type Database,
  type DatabaseEvent,
  type DatabaseOptions,
  type MigrateReport,
  dropSchema,
  migrate,
  serverWarnings,
  waitForDatabase,
} from "@carillon/engine";
import type { Logger } from "pino";
import { EmbeddedPostgresService } from "./embedded-postgres-service.js";
import { logDatabaseEvent } from "./event-log.js";
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

export interface MigrateOptions {
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
