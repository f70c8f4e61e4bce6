import {
  type Calendar,
  type CalendarSet,
  CarillonError,
  type CompiledSchedule,
  compileSchedule,
  type Instant,
  type JobSpec,
  requireCalendars,
  type ScheduleSpec,
  unknownHolidays,
} from "@carillon/core";
import { maxBackfilled, type PastCalendar, type PastRuns, type Queryable } from "@carillon/store";
import type { CalendarCompiler } from "../calendars/calendar-cache.js";
import { calendarNames, calendarRuleOf } from "../schedules/schedule-calendars.js";

/** The job whose past rules are read. */
export interface RuledJob {
  readonly id: string;
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
}

/** A rule, and until when it was in force. */
export interface PastRule {
  readonly schedule: CompiledSchedule;
  /** The definition, if it has been replaced since; null: it is in force now. */
  readonly replaced: { readonly version: number; readonly spec: JobSpec } | null;
  readonly calendars: CalendarSet;
  /** The last instant to which the rule applies; Infinity while it is in force. */
  readonly through: Instant;
}

/** Changes of the rule within one range: each costs one or two reads. */
const maxRules = 1_000;
/** Compiled calendars in the cache: every step of a backfill needs the same ones. */
const maxCalendars = 100;

/** The rules of the past: the definition and the calendars that were in force at an instant. */
export class PastRules {
  readonly #past: Pick<PastRuns, "definitionAt" | "calendarsAt">;
  readonly #compiler: CalendarCompiler;
  readonly #calendars = new Map<string, Calendar>();

  constructor(past: Pick<PastRuns, "definitionAt" | "calendarsAt">, compiler: CalendarCompiler) {
    this.#past = past;
    this.#compiler = compiler;
  }

  /**
   * The rule right after an instant. Before the oldest definition, or the oldest version of a calendar, the oldest applies.
   * Throws a CarillonError if the rule is no longer readable.
   */
  async at(db: Queryable, job: RuledJob, after: Instant): Promise<PastRule> {
    const definition = await this.#past.definitionAt(db, job.id, after);
    const schedule = definition?.spec.schedule ?? job.schedule;
    const found = await this.#calendarsAt(db, job, schedule, after);
    const calendars = new Map<string, Calendar>();
    for (const one of found) calendars.set(one.name, this.#compile(one));
    const ends = [definition?.through, ...found.map((one) => one.through)].filter((end) => typeof end === "number");
    return {
      schedule: compileSchedule(schedule, { jobId: job.id, calendars, checked: true }),
      calendars,
      replaced: definition === null ? null : { version: definition.version, spec: definition.spec },
      through: Math.min(Number.POSITIVE_INFINITY, ...ends),
    };
  }

  /** How many instants a range has, both ends included. Throws backfill_invalid if there are too many instants or rules, or if the holidays of a year are not known. */
  async count(db: Queryable, job: RuledJob, { from, to }: { from: Instant; to: Instant }): Promise<number> {
    let count = 0;
    let after = from - 1;
    for (let rules = 0; after < to; rules += 1) {
      if (rules >= maxRules) throw tooMany(`The rule changed more than ${maxRules} times in that range`);
      const { schedule, calendars, through } = await this.at(db, job, after);
      const end = Math.min(through, to);
      const unknown = unknownHolidays(calendars.values(), after + 1, end);
      if (unknown !== null) throw new CarillonError("backfill_invalid", unknown.message);
      count += schedule.countBetween(after, end + 1);
      if (count > maxBackfilled) throw tooMany(`The range has more than ${maxBackfilled} occurrences`);
      after = end;
    }
    return count;
  }

  async #calendarsAt(
    db: Queryable,
    { namespaceId }: RuledJob,
    schedule: ScheduleSpec,
    after: Instant,
  ): Promise<PastCalendar[]> {
    const rule = calendarRuleOf(schedule);
    if (rule === null) return [];
    const found = await this.#past.calendarsAt(db, namespaceId, calendarNames(schedule), after);
    requireCalendars(
      rule,
      found.map((one) => one.name),
    );
    return found;
  }

  #compile({ id, version, definition }: PastCalendar): Calendar {
    const key = `${id} ${version}`;
    const known = this.#calendars.get(key);
    if (known !== undefined) return known;
    const compiled = this.#compiler.compile(definition, version);
    if (this.#calendars.size >= maxCalendars) this.#calendars.clear();
    this.#calendars.set(key, compiled);
    return compiled;
  }
}

function tooMany(what: string): CarillonError {
  return new CarillonError("backfill_invalid", `${what}. Backfill parts of it, one after the other.`);
}
