import { type CompiledSchedule, compileRule, type ScheduleSpec } from "@carillon/core";

type RuleOf = (jobId: string) => CompiledSchedule;

/**
 * Compiled schedules by their text: a million jobs with one rule share one. What differs from job to job, the jitter, is
 * added as it is asked for. A compiled rule takes about 2 KB, so the cache is bounded; the oldest goes when it is full.
 */
export class ScheduleCache {
  readonly #limit: number;
  readonly #checked: boolean;
  readonly #rules = new Map<string, RuleOf>();

  /** With `checked` the specs were checked when they were accepted; without it an invalid one throws. */
  constructor(limit: number, checked = true) {
    this.#limit = limit;
    this.#checked = checked;
  }

  get size(): number {
    return this.#rules.size;
  }

  of(job: { readonly jobId: string; readonly schedule: ScheduleSpec }): CompiledSchedule {
    const text = JSON.stringify(job.schedule);
    const known = this.#rules.get(text);
    if (known !== undefined) return known(job.jobId);
    const rule = compileRule(job.schedule, { checked: this.#checked });
    if (this.#rules.size >= this.#limit) this.#evictOldest();
    this.#rules.set(text, rule);
    return rule(job.jobId);
  }

  #evictOldest(): void {
    const oldest = this.#rules.keys().next();
    if (!oldest.done) this.#rules.delete(oldest.value);
  }
}
