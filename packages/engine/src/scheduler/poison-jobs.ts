import type { DurationMs, Instant } from "@carillon/core";
import { isFaultOfRows } from "@carillon/store";

/** A row that makes its batch fail, and how. */
export interface Fault<Row> {
  readonly row: Row;
  readonly error: unknown;
}

export interface Bisected<Row, Out> {
  readonly done: readonly Out[];
  readonly faults: readonly Fault<Row>[];
  /** Rows that the statements accepted. */
  readonly written: number;
}

/** After this many faulty rows the rest of a batch waits for a later tick. */
const maxFaults = 16;

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
    if (faults.length >= maxFaults) return;
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

interface FirstFailure {
  readonly since: Instant;
  /** The number of written rows when the job failed first. */
  readonly written: number;
}

const quarantineAfterMs: DurationMs = 60_000;
const maxTracked = 10_000;

/**
 * Jobs whose fire failed while no other row was written: the job may be at fault, or every write fails. The job is poison if other
 * rows were written since, or if it has failed for a minute.
 */
export class PoisonJobs {
  readonly #byJob = new Map<string, FirstFailure>();
  #written = 0;

  countWritten(rows: number): void {
    this.#written += rows;
    if (this.#byJob.size > maxTracked) this.#byJob.clear();
  }

  isPoison(jobId: string, now: Instant): boolean {
    const known = this.#byJob.get(jobId);
    if (known === undefined) {
      this.#byJob.set(jobId, { since: now, written: this.#written });
      return false;
    }
    const isPoison = this.#written > known.written || now - known.since >= quarantineAfterMs;
    if (isPoison) this.#byJob.delete(jobId);
    return isPoison;
  }
}
