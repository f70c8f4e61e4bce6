import { type CompiledSchedule, compileSchedule } from "@carillon/core";
import type { DueJob } from "../store/entities/due.js";

/** Compiled schedules by job and version; the oldest goes when the cache is full. */
export class ScheduleCache {
  readonly #limit: number;
  readonly #compiled = new Map<string, { version: number; schedule: CompiledSchedule }>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(job: Pick<DueJob, "jobId" | "version" | "schedule">): CompiledSchedule {
    const known = this.#compiled.get(job.jobId);
    if (known?.version === job.version) return known.schedule;
    const schedule = compileSchedule(job.schedule, { jobId: job.jobId, checked: true });
    this.#compiled.delete(job.jobId);
    if (this.#compiled.size >= this.#limit) this.#evictOldest();
    this.#compiled.set(job.jobId, { version: job.version, schedule });
    return schedule;
  }

  #evictOldest(): void {
    const oldest = this.#compiled.keys().next();
    if (!oldest.done) this.#compiled.delete(oldest.value);
  }
}
