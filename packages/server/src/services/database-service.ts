import { systemClock, systemRandom, systemTimers } from "@carillon/core";
import { type Database, type DatabaseEvent, type DatabaseOptions, waitForDatabase } from "@carillon/engine";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";
import { logDatabaseEvent } from "./event-log.js";

/** How this configuration reaches its database; the URL is the embedded one's when none is configured. */
export function databaseOptions(
  { config, logger }: Pick<NodeContext, "config" | "logger">,
  url: string,
  onEvent?: (event: DatabaseEvent) => void,
): DatabaseOptions {
  return {
    url,
    ...(config.directDatabaseUrl !== null && { directUrl: config.directDatabaseUrl }),
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

/** The same reason is said again after so long. */
const SAY_AGAIN_MS = 5_000;

/** The connections, opened as soon as the database answers. Its loss later is not the service's end: it reconnects. */
export class DatabaseService implements Service {
  readonly name = "database";
  readonly #context: NodeContext;
  readonly #url: () => string;
  readonly #onEvent: ((event: DatabaseEvent) => void) | undefined;
  #database: Database | null = null;

  constructor(context: NodeContext, url: () => string, onEvent?: (event: DatabaseEvent) => void) {
    this.#context = context;
    this.#url = url;
    this.#onEvent = onEvent;
  }

  /** Null while it is not open. */
  get opened(): Database | null {
    return this.#database;
  }

  get database(): Database {
    if (this.#database === null) throw new Error("the database is read before it was opened");
    return this.#database;
  }

  async start(): Promise<void> {
    if (this.#database !== null) return;
    const { config, logger, stopping } = this.#context;
    const said = { message: "", leftMs: 0 };
    this.#database = await waitForDatabase(databaseOptions(this.#context, this.#url(), this.#onEvent), {
      deadlineMs: config.databaseWait,
      signal: stopping,
      onWait: (message, leftMs) => {
        if (message === said.message && said.leftMs - leftMs < SAY_AGAIN_MS) return;
        Object.assign(said, { message, leftMs });
        const left = `${Math.ceil(leftMs / 1000)} s left`;
        logger.warn({ component: this.name }, `waiting for the database, ${left}: ${message}`);
      },
    });
  }

  async stop(): Promise<void> {
    const database = this.#database;
    this.#database = null;
    await database?.close();
  }
}
