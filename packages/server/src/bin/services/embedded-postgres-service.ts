import { CarillonError } from "@carillon/core";
import {
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from "@carillon/embedded-postgres";
import { pause } from "../../lifecycle/pause.js";
import type { Service } from "../../lifecycle/service.js";
import type { NodeContext } from "../context.js";

const RESTART_PAUSE_MS = 1_000;

/** The node's own PostgreSQL. One that dies while the node lives is started again on the same port, under the same URL. */
export class EmbeddedPostgresService implements Service {
  readonly name = "postgres";
  readonly #context: NodeContext;
  readonly #overrides: Partial<EmbeddedPostgresOptions>;
  #server: EmbeddedPostgres | null = null;
  #guard: Promise<void> = Promise.resolve();
  #wanted = false;

  constructor(context: NodeContext, overrides: Partial<EmbeddedPostgresOptions> = {}) {
    this.#context = context;
    this.#overrides = overrides;
  }

  get server(): EmbeddedPostgres {
    if (this.#server === null) throw new Error("the embedded PostgreSQL is read before it was started");
    return this.#server;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    this.#wanted = true;
    this.#server = await this.#launch(this.#overrides);
    this.#guard = this.#restartWhenDead(this.#server);
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    await this.#server?.stop();
    await this.#guard;
    this.#server = null;
  }

  /** Tells the server to end, without waiting: the last act of a process that ends at once. */
  abandon(): void {
    this.#wanted = false;
    if (this.#server === null) return;
    try {
      process.kill(this.#server.pid, "SIGINT");
    } catch {
      // It is gone already.
    }
  }

  async #launch(options: Partial<EmbeddedPostgresOptions>): Promise<EmbeddedPostgres> {
    const { config, logger, stopping } = this.#context;
    const log = (line: string): void => logger.info({ component: this.name }, line);
    try {
      return await startEmbeddedPostgres({ dataDir: config.dataDir, log, signal: stopping, ...options });
    } catch (error) {
      if (!(error instanceof EmbeddedPostgresError)) throw error;
      throw new CarillonError("embedded_postgres_failed", error.message, { cause: error });
    }
  }

  async #restartWhenDead(server: EmbeddedPostgres): Promise<void> {
    const { logger, stopping } = this.#context;
    await server.exited;
    if (!this.#wanted) return;
    logger.error({ component: this.name }, "PostgreSQL has ended although nobody stopped it; starting it again");
    await server.stop();
    while (this.#wanted) {
      try {
        this.#server = await this.#launch({ ...this.#overrides, port: server.port });
        this.#guard = this.#restartWhenDead(this.#server);
        return;
      } catch (error) {
        if (!stopping.aborted)
          logger.error({ component: this.name, err: error }, "PostgreSQL could not be started again");
        await pause(RESTART_PAUSE_MS, stopping);
      }
    }
  }
}
