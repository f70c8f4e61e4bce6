import { CarillonError } from "@carillon/core";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { pause } from "./pause.js";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";

/** Between the end of a server and its restart, so that one that always dies does not keep the machine busy. */
const RESTART_PAUSE_MS = 1_000;

/** What it needs of its node. */
export interface EmbeddedContext extends Pick<NodeContext, "logger" | "stopping"> {
  readonly config: Pick<NodeContext["config"], "dataDir">;
}

/** The node's own PostgreSQL. One that dies while the node lives is started again on the same port, under the same URL. */
export class EmbeddedPostgresService implements Service {
  readonly name = "postgres";
  readonly #context: EmbeddedContext;
  #server: EmbeddedPostgres | null = null;
  #guard: Promise<void> = Promise.resolve();
  #ending = new AbortController();

  constructor(context: EmbeddedContext) {
    this.#context = context;
  }

  get server(): EmbeddedPostgres {
    if (this.#server === null) throw new Error("the embedded PostgreSQL is read before it was started");
    return this.#server;
  }

  async start(): Promise<void> {
    if (this.#server !== null) return;
    this.#ending = new AbortController();
    this.#server = await this.#launch(this.#context.stopping);
    // Until its own stop: a node that drains needs its database to the last.
    this.#guard = this.#keepAlive(this.#server, this.#ending.signal);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#server?.stop();
    await this.#guard;
    // The guard may have been starting another one meanwhile.
    await this.#server?.stop();
    this.#server = null;
  }

  /** Tells the server to end, without waiting: the last act of a process that ends at once. */
  abandon(): void {
    this.#ending.abort();
    if (this.#server === null) return;
    try {
      process.kill(this.#server.pid, "SIGINT");
    } catch {
      // It is gone already.
    }
  }

  async #launch(signal: AbortSignal, port?: number): Promise<EmbeddedPostgres> {
    const { config, logger } = this.#context;
    const log = (line: string): void => logger.info({ component: this.name }, line);
    const wish = port === undefined ? {} : { port };
    try {
      return await startEmbeddedPostgres({ dataDir: config.dataDir, log, signal, ...wish });
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
      log.error("PostgreSQL has ended although nobody stopped it; starting it again");
      try {
        await server.stop();
        await pause(RESTART_PAUSE_MS, ending);
        server = await this.#launch(ending, server.port);
        this.#server = server;
        log.info("PostgreSQL runs again");
      } catch (error) {
        if (!ending.aborted) log.error({ err: error }, "PostgreSQL could not be started again");
      }
    }
  }
}
