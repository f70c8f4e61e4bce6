import type { Queryable } from "./queryable.js";

/** A setting of the server that weakens a promise, and what to do about it. */
export interface ServerWarning {
  readonly setting: string;
  readonly value: string;
  readonly message: string;
}

interface Rule {
  readonly setting: string;
  readonly weak: (value: string) => boolean;
  readonly message: string;
}

const isOff = (value: string): boolean => value === "off";

const rules: readonly Rule[] = [
  { setting: "fsync", weak: isOff, message: "A crash of the machine can corrupt the database: set fsync to on." },
  {
    setting: "full_page_writes",
    weak: isOff,
    message: "A crash of the machine can corrupt the database: set full_page_writes to on.",
  },
  {
    setting: "synchronous_commit",
    weak: isOff,
    message: "A crash of the server can lose jobs that were acknowledged: set synchronous_commit to on.",
  },
  { setting: "autovacuum", weak: isOff, message: "The hot tables will bloat without end: set autovacuum to on." },
  {
    setting: "track_counts",
    weak: isOff,
    message: "Without it autovacuum does not know what to do: set track_counts to on.",
  },
];

/** Returns the settings that weaken a promise of the product; for `doctor` and for the log at start. */
export async function serverWarnings(database: Queryable, poolSize: number): Promise<readonly ServerWarning[]> {
  const names = [...rules.map(({ setting }) => setting), "max_connections", "superuser_reserved_connections"];
  const { rows } = await database.query<{ name: string; value: string }>(
    { text: "select name, current_setting(name) as value from unnest($1::text[]) as name" },
    [names],
  );
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  const warnings = rules.flatMap(({ setting, weak, message }) => {
    const value = values.get(setting) ?? "";
    return weak(value) ? [{ setting, value, message }] : [];
  });
  return [...warnings, ...connectionWarning(values, poolSize)];
}

function connectionWarning(values: ReadonlyMap<string, string>, poolSize: number): ServerWarning[] {
  const value = values.get("max_connections") ?? "";
  const usable = Number(value) - Number(values.get("superuser_reserved_connections"));
  if (usable >= 2 * poolSize) return [];
  const message = `The server takes ${usable} connections and this node may open ${poolSize}: a second node, or a rolling restart, would find none free. Raise max_connections or lower the pool size.`;
  return [{ setting: "max_connections", value, message }];
}
