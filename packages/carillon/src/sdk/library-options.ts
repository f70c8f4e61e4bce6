import type { DatabaseOptions } from "@carillon/engine";

export type Role = "enqueue" | "schedule" | "work";

export interface LibraryOptions {
  /** postgres://user:password@host:5432/database */
  readonly databaseUrl?: string;
  /** A folder for an embedded PostgreSQL, in place of databaseUrl; one process at a time. It is created at the first start. */
  readonly dataDir?: string;
  /** The application's own pool of `pg` in place of databaseUrl. The application sizes and closes it. */
  readonly pool?: NonNullable<DatabaseOptions["pool"]>;
  /** The schema that holds everything; carillon by default. */
  readonly schema?: string;
  /** Connections of this process when it has databaseUrl; 3 by default. */
  readonly connections?: number;
  /** What this process does; everything by default. One that only enqueues fires nothing and runs nothing. */
  readonly roles?: readonly Role[];
  /** Whether the start creates the schema and brings it up to date; true by default. */
  readonly migrate?: boolean;
  readonly namespace?: string;
}

export const defaultNamespace = "default";

export function isEnqueueOnly({ roles }: LibraryOptions): boolean {
  return roles !== undefined && !roles.includes("schedule") && !roles.includes("work");
}
