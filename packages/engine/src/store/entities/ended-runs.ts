/** Runs that ended, by id, each with its job if others of that job may wait for it. */
export type EndedRuns = ReadonlyMap<string, string | null>;

export interface EndedRow {
  readonly id: string;
  readonly freed_job_id: string | null;
}

export function toEnded(rows: readonly EndedRow[]): EndedRuns {
  return new Map(rows.map((row) => [row.id, row.freed_job_id]));
}

/** The jobs of which another run may start now. */
export function freedJobs(ended: EndedRuns): string[] {
  return [...ended.values()].filter((jobId) => jobId !== null);
}
