import type { DurationMs, Instant } from "@carillon/core";

interface Suspicion {
  readonly since: Instant;
  /** How many rows had been written when it was first suspected. */
  readonly written: number;
}

const patienceMs: DurationMs = 60_000;
const mostSuspects = 10_000;

/**
 * Jobs whose fire failed while no other row was written: it may be the job, or everything fails. The job is at fault when
 * others were written since, or when it has failed for long.
 */
export class Suspects {
  readonly #byJob = new Map<string, Suspicion>();
  #written = 0;

  noteWritten(rows: number): void {
    this.#written += rows;
    if (this.#byJob.size > mostSuspects) this.#byJob.clear();
  }

  isGuilty(jobId: string, now: Instant): boolean {
    const known = this.#byJob.get(jobId);
    if (known === undefined) {
      this.#byJob.set(jobId, { since: now, written: this.#written });
      return false;
    }
    const isGuilty = this.#written > known.written || now - known.since >= patienceMs;
    if (isGuilty) this.#byJob.delete(jobId);
    return isGuilty;
  }
}
