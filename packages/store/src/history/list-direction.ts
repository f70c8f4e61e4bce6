/** Lists are in the order in which their rows were made: ids begin with the time. */
export type ListDirection = "newest_first" | "oldest_first";

/** Where in a list a page begins, and how many rows it wants. */
export interface ListPlace {
  /** The last row before it; null at the begin of the list. */
  readonly after: string | null;
  readonly limit: number;
  readonly direction: ListDirection;
  /** What lies beyond this id is not wanted: another part of the list reaches no farther. */
  readonly until?: string | null;
}

/** Rows of one table in the list's order, and how far it was looked: null when there is nothing beyond. */
export interface Looked<Row> {
  readonly rows: readonly Row[];
  readonly edge: string | null;
}

/** Rows that one page looks through where no index serves all of its filter. */
export const mostScanned = 10_000;
