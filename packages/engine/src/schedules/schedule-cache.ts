import { type Calendar, type CalendarSet, type CompiledSchedule, compileRule, type ScheduleSpec } from "@carillon/core";
import { calendarNames } from "./schedule-calendars.js";

type RuleOf = (jobId: string) => CompiledSchedule;

interface Rule {
  /** The first spec of this text: a caller that keeps it in place of its own saves memory. */
  readonly schedule: ScheduleSpec;
  readonly of: RuleOf;
}

/**
 * Compiled schedules by their text: a million jobs with one rule share one. What differs from job to job, the jitter, is
 * added on request. A compiled rule takes about 2 KB, so the cache is bounded; the oldest goes when it is full.
 */
export class ScheduleCache {
  readonly #limit: number;
  readonly #checked: boolean;
  readonly #rules = new Map<string, Rule>();
  /** Jobs that were read together share the spec object if it is the same: then its text is not needed. */
  readonly #bySpec = new WeakMap<ScheduleSpec, Rule>();

  /** With `checked` the specs are known to be valid; without it an invalid one throws. */
  constructor(limit: number, checked = true) {
    this.#limit = limit;
    this.#checked = checked;
  }

  get size(): number {
    return this.#rules.size;
  }

  /** For a job in memory. `calendars` are those of its namespace; needed when the schedule names one. */
  of(job: {
    readonly jobId: string;
    readonly schedule: ScheduleSpec;
    readonly calendars?: CalendarSet;
  }): CompiledSchedule {
    const { jobId, schedule, calendars } = job;
    if (calendars !== undefined) return this.rule(schedule, calendars).of(jobId);
    const known = this.#bySpec.get(schedule);
    if (known !== undefined) return known.of(jobId);
    const rule = this.rule(schedule);
    this.#bySpec.set(schedule, rule);
    return rule.of(jobId);
  }

  /** For a spec that is not kept in memory. */
  rule(schedule: ScheduleSpec, calendars?: CalendarSet): Rule {
    const text = JSON.stringify(schedule) + (calendars === undefined ? "" : editionOf(schedule, calendars));
    const known = this.#rules.get(text);
    if (known !== undefined) return known;
    const of = compileRule(schedule, { checked: this.#checked, ...(calendars && { calendars }) });
    if (this.#rules.size >= this.#limit) this.#evictOldest();
    const rule = { schedule, of };
    this.#rules.set(text, rule);
    return rule;
  }

  #evictOldest(): void {
    const oldest = this.#rules.keys().next();
    if (!oldest.done) this.#rules.delete(oldest.value);
  }
}

const editions = new WeakMap<Calendar, number>();
let newest = 0;

/** Distinguishes calendars of one name: those of other namespaces, and other versions. */
function editionOf(schedule: ScheduleSpec, calendars: CalendarSet): string {
  return calendarNames(schedule)
    .map((name) => ` ${numberOf(calendars.get(name))}`)
    .join("");
}

function numberOf(calendar: Calendar | undefined): number {
  if (calendar === undefined) return 0;
  const known = editions.get(calendar);
  if (known !== undefined) return known;
  newest += 1;
  editions.set(calendar, newest);
  return newest;
}
