import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CarillonError } from "@carillon/core";
import { type EmbeddedPostgres, EmbeddedPostgresError, startEmbeddedPostgres } from "@carillon/embedded-postgres";
import { createLogger } from "./logger.js";
import type { NodeContext, Service } from "./service.js";

/** The pause before a restart, so that a server that always crashes does not keep the machine busy. */
const RESTART_PAUSE_MS = 1_000;

export interface EmbeddedContext extends Pick<NodeContext, "logger" | "stopping"> {
  readonly config: Pick<NodeContext["config"], "dataDir">;
}

/** The node's own PostgreSQL. After a crash it is started again on the same port, and its URL stays the same. */
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
