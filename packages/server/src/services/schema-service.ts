import { type Database, type MigrateReport, dropSchema, migrate, serverWarnings } from "@carillon/engine";
import type { Logger } from "pino";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";

export interface MigrationRequest {
  readonly dryRun: boolean;
}

/** Brings the schema up to date and says what it does. */
export function migrateWithLog(
  database: Database,
  logger: Logger,
  { dryRun }: MigrationRequest,
): Promise<MigrateReport> {
  const log = logger.child({ component: "schema" });
  return migrate(database, {
    dryRun,
    onWait: (message) => log.info(message),
    onApplied: (migration) => log.debug({ migration }, "migration applied"),
  });
}

/** A schema that fits this version, before anything looks at it. */
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
      logger.warn({ component: this.name, schema: database.schema }, "the old schema was removed");
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
