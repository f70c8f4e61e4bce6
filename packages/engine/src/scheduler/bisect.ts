import { isFaultOfRows } from "@carillon/store";

/** A row that makes its batch fail, and how. */
export interface Fault<Row> {
  readonly row: Row;
  readonly error: unknown;
}

export interface Bisected<Row, Out> {
  readonly done: readonly Out[];
  readonly faults: readonly Fault<Row>[];
  /** Rows that the store took, whatever it made of them. */
  readonly written: number;
}

/** After so many rows at fault the rest of a batch is left for another time. */
const mostFaults = 16;

/**
 * Writes a batch; one that fails because of a row is halved until the row at fault stands alone, so that the others are
 * written. An error of the database itself is thrown.
 */
export async function writeAround<Row, Out>(
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<readonly Out[]>,
): Promise<Bisected<Row, Out>> {
  const done: Out[] = [];
  const faults: Fault<Row>[] = [];
  let written = 0;
  const attempt = async (part: readonly Row[]): Promise<void> => {
    if (faults.length >= mostFaults) return;
    try {
      done.push(...(await write(part)));
      written += part.length;
    } catch (error) {
      if (!isFaultOfRows(error)) throw error;
      const [row] = part;
      if (part.length === 1 && row !== undefined) return void faults.push({ row, error });
      const half = Math.ceil(part.length / 2);
      await attempt(part.slice(0, half));
      await attempt(part.slice(half));
    }
  };
  await attempt(rows);
  return { done, faults, written };
}
