import type { ListDirection } from "@carillon/store";
import type { Page } from "../requests.js";

/** Rows of one table in the list's order. `edge`: the last id that was looked at; null when nothing lies beyond. */
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
  { pageSize, direction }: { readonly pageSize: number; readonly direction: ListDirection },
): Page<Row> {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  const edge = parts.reduce<string | null>((nearest, part) => {
    return part.edge !== null && (nearest === null || isBefore(part.edge, nearest)) ? part.edge : nearest;
  }, null);
  const byId = new Map(parts.flatMap((part) => part.rows.map((row) => [row.id, row] as const)));
  const rows = [...byId.values()]
    .filter((row) => edge === null || !isBefore(edge, row.id))
    .sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1));
  const shown = rows.slice(0, pageSize);
  return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.id ?? null) : edge };
}
