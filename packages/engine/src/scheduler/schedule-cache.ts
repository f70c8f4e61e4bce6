import { type Calendar, type CalendarSet, type CompiledSchedule, compileRule, type ScheduleSpec } from "@carillon/core";

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

  /** `calendars` are those of the job's namespace; needed when the schedule names one. */
  of(job: {
    readonly jobId: string;
    readonly schedule: ScheduleSpec;
    readonly calendars?: CalendarSet;
  }): CompiledSchedule {
    const { calendars } = job;
    const text = JSON.stringify(job.schedule) + (calendars === undefined ? "" : editionOf(job.schedule, calendars));
    const known = this.#rules.get(text);
    if (known !== undefined) return known(job.jobId);
    const rule = compileRule(job.schedule, { checked: this.#checked, ...(calendars && { calendars }) });
    if (this.#rules.size >= this.#limit) this.#evictOldest();
    this.#rules.set(text, rule);
    return rule(job.jobId);
  }

  #evictOldest(): void {
    const oldest = this.#rules.keys().next();
    if (!oldest.done) this.#rules.delete(oldest.value);
  }
}

const editions = new WeakMap<Calendar, number>();
let newest = 0;

/** Tells apart calendars of one name: those of other namespaces, and other versions. */
function editionOf(schedule: ScheduleSpec, calendars: CalendarSet): string {
  if (!("calendars" in schedule)) return "";
  const { exclude = [], only = [] } = schedule.calendars ?? {};
  return [...exclude, ...only].map((name) => ` ${numberOf(calendars.get(name))}`).join("");
}

function numberOf(calendar: Calendar | undefined): number {
  if (calendar === undefined) return 0;
  const known = editions.get(calendar);
  if (known !== undefined) return known;
  newest += 1;
  editions.set(calendar, newest);
  return newest;
}
