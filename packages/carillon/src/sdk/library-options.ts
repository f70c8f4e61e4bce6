import { checkOptions, option } from "@carillon/contract/check";
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

const { custom, flag, list, object, oneOf, text, whole } = option;

export const libraryOptions = object(
  {
    databaseUrl: text(),
    dataDir: text(),
    pool: custom<NonNullable<DatabaseOptions["pool"]>>(isPool, "a pool of pg"),
    schema: text({ minLength: 1 }),
    connections: whole(1, 10_000),
    roles: list(oneOf(["enqueue", "schedule", "work"]), { minItems: 1, examples: [["enqueue"]] }),
    migrate: flag,
    namespace: text({ minLength: 1 }),
  },
  {
    title: "LibraryOptions",
    examples: [{ databaseUrl: "postgres://me@localhost/app" }],
    hints: {
      connectionstring: "Write databaseUrl.",
      connection: "Write databaseUrl, or pool.",
      database: "Write databaseUrl.",
      postgresurl: "Write databaseUrl.",
      max: "Write connections.",
      poolsize: "Write connections.",
      maxconnections: "Write connections.",
      role: 'Write roles: ["enqueue"].',
      token: "It belongs to an app over a server: carillon({ url, token }).",
    },
  },
);

function isPool(value: unknown): boolean {
  const { query, connect } = (value ?? {}) as { readonly query?: unknown; readonly connect?: unknown };
  return typeof query === "function" && typeof connect === "function";
}

export function checkLibraryOptions(options: unknown): void {
  checkOptions(libraryOptions, options, { name: "carillon", code: "config_invalid" });
}

export const defaultNamespace = "default";

export function isEnqueueOnly({ roles }: LibraryOptions): boolean {
  return roles !== undefined && !roles.includes("schedule") && !roles.includes("work");
}
