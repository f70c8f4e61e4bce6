import type { ListDirection, Looked } from "./list-direction.js";

/** How ids follow each other in a list. */
export interface ListOrder {
  isBefore(a: string, b: string): boolean;
  /** The nearer of two edges. */
  nearer(a: string | null, b: string | null): string | null;
  /** A page of what is not beyond the edge. A full one ends with its last row. */
  upTo<Row extends { readonly id: string }>(edge: string | null, rows: readonly Row[], limit: number): Looked<Row>;
}

export function orderOf(direction: ListDirection): ListOrder {
  const isBefore = (a: string, b: string): boolean => (direction === "newest_first" ? a > b : a < b);
  return {
    isBefore,
    nearer: (a, b) => (a === null || (b !== null && isBefore(b, a)) ? b : a),
    upTo(edge, found, limit) {
      const whole = found.filter(({ id }) => edge === null || !isBefore(edge, id));
      const rows = whole.toSorted((a, b) => (isBefore(a.id, b.id) ? -1 : 1)).slice(0, limit);
      return { rows, edge: rows.length >= limit ? (rows.at(-1)?.id ?? null) : edge };
    },
  };
}
