import { resolve } from "node:path";
import { createLogger } from "./logger.js";
import { EmbeddedPostgresService } from "./embedded-postgres-service.js";

export interface KeptPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** An embedded PostgreSQL for a program that is no node. One that dies is started again; what goes wrong is on standard error. */
export async function startKeptPostgres(dataDir: string): Promise<KeptPostgres> {
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
