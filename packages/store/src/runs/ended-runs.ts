import type { Instant, Sla } from "@carillon/core";

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

/** A run that ended elsewhere than on its worker, as whoever follows events is told of it. */
export interface EndedRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly task: string;
  readonly queue: string;
  /** Others of this job may wait for its end. */
  readonly freedJobId: string | null;
}

/** One that failed because of the time that it took, or of its workers, with what was promised of it. */
export interface EndedLate extends EndedRun {
  readonly sla: Sla | null;
  readonly nominal: Instant;
  readonly trigger: string;
  /** 0: no worker ever had it. */
  readonly fence: number;
  readonly endedAt: Instant;
}

/** The jobs of which another run may start now. */
export function freedBy(runs: readonly EndedRun[]): string[] {
  return runs.map((run) => run.freedJobId).filter((jobId) => jobId !== null);
}
