import type { Page } from "../model/api.js";

/** Rows of one table, newest first. `edge`: the last id that was looked at; null when nothing lies beyond. */
export interface Part<Row> {
  readonly rows: readonly Row[];
  readonly edge: string | null;
}

/**
 * One page from several tables. It reaches as far as all of them were looked at, so that it may be short, or empty, and yet not the
 * last. Of two rows with one id that of the later part counts.
 */
export function mergeParts<Row extends { readonly id: string }>(
  parts: readonly Part<Row>[],
  pageSize: number,
): Page<Row> {
  const edge = parts.reduce<string | null>((highest, part) => {
    return part.edge !== null && (highest === null || part.edge > highest) ? part.edge : highest;
  }, null);
  const byId = new Map(parts.flatMap((part) => part.rows.map((row) => [row.id, row] as const)));
  const rows = [...byId.values()]
    .filter((row) => edge === null || row.id >= edge)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const shown = rows.slice(0, pageSize);
  return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.id ?? null) : edge };
}
