import {
  type Calendar,
  CarillonError,
  type CompiledSchedule,
  type Instant,
  type JobSpec,
  type ScheduleSpec,
  compileSchedule,
  requireCalendars,
} from "@carillon/core";
import { type PastCalendar, type PastRuns, type Queryable, mostBackfilled } from "@carillon/store";
import type { CalendarCompiler } from "../calendars/calendar-cache.js";
import { calendarNames, calendarRuleOf } from "../schedules/named-calendars.js";

/** Of a stored job, what tells which rule was in force when. */
export interface RuledJob {
  readonly id: string;
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
}

/** A rule and how long it was in force. */
export interface PastRule {
  readonly schedule: CompiledSchedule;
  /** The definition, if it has been replaced since; null for the one that is in force now. */
  readonly replaced: { readonly version: number; readonly spec: JobSpec } | null;
  /** The last instant that is this rule's; Infinity while it is in force. */
  readonly through: Instant;
}

/** Changes of a rule that one count follows: each costs a read or two. */
const mostRules = 1_000;
/** Calendars kept compiled: a backfill asks for the same at each of its steps. */
const mostCalendars = 100;

/** Which rule counted at an instant of the past: the definition and the calendars of then. */
export class PastRules {
  readonly #past: Pick<PastRuns, "definitionAt" | "calendarsAt">;
  readonly #compiler: CalendarCompiler;
  readonly #calendars = new Map<string, Calendar>();

  constructor(past: Pick<PastRuns, "definitionAt" | "calendarsAt">, compiler: CalendarCompiler) {
    this.#past = past;
    this.#compiler = compiler;
  }

  /**
   * The rule right after an instant. What is older than the oldest definition, or calendar, counts by the oldest. Throws a
   * CarillonError when it cannot be read any more.
   */
  async at(db: Queryable, job: RuledJob, after: Instant): Promise<PastRule> {
    const definition = await this.#past.definitionAt(db, job.id, after);
    const schedule = definition?.spec.schedule ?? job.schedule;
    const found = await this.#calendarsAt(db, job, schedule, after);
    const calendars = new Map<string, Calendar>();
    for (const one of found) calendars.set(one.name, await this.#compile(one));
    const ends = [definition?.through, ...found.map((one) => one.through)].filter((end) => typeof end === "number");
    return {
      schedule: compileSchedule(schedule, { jobId: job.id, calendars, checked: true }),
      replaced: definition === null ? null : { version: definition.version, spec: definition.spec },
      through: Math.min(Number.POSITIVE_INFINITY, ...ends),
    };
  }

  /** How many instants a range has, both ends included. Throws backfill_invalid when there are too many to follow. */
  async count(db: Queryable, job: RuledJob, { from, to }: { from: Instant; to: Instant }): Promise<number> {
    let count = 0;
    let after = from - 1;
    for (let rules = 0; after < to; rules += 1) {
      if (rules >= mostRules) throw tooMany(`the rule changed more than ${mostRules} times in that range`);
      const { schedule, through } = await this.at(db, job, after);
      const end = Math.min(through, to);
      count += schedule.countBetween(after, end + 1);
      if (count > mostBackfilled) throw tooMany(`the range has more than ${mostBackfilled} occurrences`);
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

  async #compile({ id, version, definition }: PastCalendar): Promise<Calendar> {
    const key = `${id} ${version}`;
    const known = this.#calendars.get(key);
    if (known !== undefined) return known;
    const compiled = await this.#compiler.compile(definition, version);
    if (this.#calendars.size >= mostCalendars) this.#calendars.clear();
    this.#calendars.set(key, compiled);
    return compiled;
  }
}

function tooMany(what: string): CarillonError {
  return new CarillonError("backfill_invalid", `${what}: ask for parts of it, one after the other`);
}
