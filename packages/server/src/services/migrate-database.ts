import type { EventEmitter } from "node:events";
import { systemClock } from "@carillon/core";
import { hasEmbeddedDatabase } from "@carillon/embedded-postgres";
import { type MigrateReport, allMigrations } from "@carillon/engine";
import type { Logger } from "pino";
import type { Config } from "../config/options.js";
import { databaseServices, migrateWithLog } from "./database-service.js";
import { SIGNAL_EXIT, guardProcess } from "./run-node.js";
import { ServiceGroup } from "./service.js";

export interface MigrateDatabaseOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  readonly dryRun: boolean;
  readonly process: EventEmitter & { exit(code: number): void };
}

export interface MigrateDatabaseReport extends MigrateReport {
  /** The data directory in which a database would be created first; only in a dry run that finds none. */
  readonly creates?: string;
}

/** Migrates without serving; a dry run creates no database. After a signal the current migration finishes; the embedded database is stopped in any case. */
export async function migrateDatabase(options: MigrateDatabaseOptions): Promise<MigrateDatabaseReport> {
  const { config, logger, version, dryRun, process } = options;
  const { databaseUrl, dataDir } = config;
  if (dryRun && databaseUrl === null && !(await hasEmbeddedDatabase(dataDir))) {
    return { applied: [], pending: allMigrations(), creates: dataDir };
  }
  const stopping = new AbortController();
  const { embedded, database, services } = databaseServices({ config, logger, version, stopping: stopping.signal });
  const endNow = (code: number): void => {
    embedded?.abandon();
    process.exit(code);
  };
  const removeGuard = guardProcess(
    process,
    {
      drain: () => stopping.abort(),
      endNow: (signal) => endNow(SIGNAL_EXIT[signal]),
      fatal(error) {
        logger.fatal({ err: error }, "unexpected error");
        endNow(1);
      },
    },
    () => systemClock.monotonic(),
  );
  const group = new ServiceGroup("database", services);
  try {
    await group.start();
    return await migrateWithLog(database.required, logger, { dryRun });
  } finally {
    await group.stop();
    removeGuard();
  }
}
