import type { DatabaseOptions } from "@carillon/engine";

export type Role = "enqueue" | "schedule" | "work";

export interface LibraryOptions {
  /** postgres://user:password@host:5432/database */
  readonly databaseUrl?: string;
  /** A folder for an embedded PostgreSQL, in place of databaseUrl; one process at a time. It is made at the first start. */
  readonly dataDir?: string;
  /** The application's own pool of `pg` in place of databaseUrl. Its size and its end are the application's. */
  readonly pool?: NonNullable<DatabaseOptions["pool"]>;
  /** The schema that holds everything; carillon by default. */
  readonly schema?: string;
  /** Connections of this process when it has databaseUrl; 3 by default. */
  readonly connections?: number;
  /** What this process does; everything by default. One that only enqueues fires nothing and runs nothing. */
  readonly roles?: readonly Role[];
  /** Whether the schema is made and brought up to date at the start; true by default. */
  readonly migrate?: boolean;
  readonly namespace?: string;
}

export const defaultNamespace = "default";

export function isEnqueueOnly({ roles }: LibraryOptions): boolean {
  return roles !== undefined && !roles.includes("schedule") && !roles.includes("work");
}
