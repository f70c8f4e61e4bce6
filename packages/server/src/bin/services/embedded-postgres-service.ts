import { CarillonError } from "@carillon/core";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { pause } from "../../lifecycle/pause.js";
import type { Service } from "../../lifecycle/service.js";
import type { NodeContext } from "../context.js";

/** Between the end of a server and its restart, so that one that always dies does not keep the machine busy. */
const RESTART_PAUSE_MS = 500;

/** The node's own PostgreSQL. One that dies while the node lives is started again on the same port, under the same URL. */
export class EmbeddedPostgresService implements Service {
  readonly name = "postgres";
  readonly #context: NodeContext;
  #server: EmbeddedPostgres | null = null;
  #guard: Promise<void> = Promise.resolve();
  #wanted = false;

  constructor(context: NodeContext) {
    this.#context = context;
  }

  get server(): EmbeddedPostgres {
    if (this.#server === null) throw new Error("the embedded PostgreSQL is read before it was started");
    return this.#server;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    this.#wanted = true;
    this.#server = await this.#launch();
    this.#guard = this.#keepAlive(this.#server);
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    await this.#server?.stop();
    await this.#guard;
    // The guard may have been starting another one meanwhile.
    await this.#server?.stop();
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

  async #launch(port?: number): Promise<EmbeddedPostgres> {
    const { config, logger, stopping } = this.#context;
    const log = (line: string): void => logger.info({ component: this.name }, line);
    const wish = port === undefined ? {} : { port };
    try {
      return await startEmbeddedPostgres({ dataDir: config.dataDir, log, signal: stopping, ...wish });
    } catch (error) {
      if (!(error instanceof EmbeddedPostgresError)) throw error;
      throw new CarillonError("embedded_postgres_failed", error.message, { cause: error });
    }
  }

  async #keepAlive(first: EmbeddedPostgres): Promise<void> {
    const log = this.#context.logger.child({ component: this.name });
    let server = first;
    for (;;) {
      await server.exited;
      if (!this.#wanted) return;
      log.error("PostgreSQL has ended although nobody stopped it; starting it again");
      try {
        await server.stop();
        await pause(RESTART_PAUSE_MS, this.#context.stopping);
        if (!this.#wanted) return;
        server = await this.#launch(server.port);
        this.#server = server;
        log.info("PostgreSQL runs again");
      } catch (error) {
        if (this.#wanted) log.error({ err: error }, "PostgreSQL could not be started again");
      }
    }
  }
}
