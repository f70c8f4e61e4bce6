import type { DatabaseEvent } from "@carillon/engine";
import type { Service } from "./service.js";
import type { NodeContext } from "./context.js";
import { DatabaseService } from "./database-service.js";
import { EmbeddedPostgresService } from "./embedded-postgres-service.js";

/** The way to the database: through the embedded one, unless another is configured. */
export interface DatabaseServices {
  readonly embedded: EmbeddedPostgresService | null;
  readonly database: DatabaseService;
  /** Both in the order of their start. */
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
