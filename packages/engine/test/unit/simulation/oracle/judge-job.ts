import { type Instant, compileSchedule } from "@carillon/core";
import type { MemoryRange } from "../../../../src/scheduler/memory/memory-tables.js";
import type { JobLife, YearRecord } from "../world/life.js";
import type { Complaint, Law } from "./complaint.js";
import { type NamedInstants, namedInstants } from "./named-instants.js";
import type { OpenWindows } from "./open-windows.js";

/** A run of a job, whether it has ended or not. */
export interface RunOfJob {
  readonly nominal: Instant;
  readonly runAt: Instant;
  readonly createdAt: Instant;
  readonly trigger: string;
  /** null: it is live. */
  readonly finishedAt: Instant | null;
}

/** All that the store holds about one job. */
export interface JobEvidence {
  readonly jobId: string;
  readonly life: JobLife;
  /** By instant. */
  readonly runs: readonly RunOfJob[];
  /** By their beginnings. */
  readonly ledger: readonly MemoryRange[];
  /** Up to where the job is settled; null when nothing was. */
  readonly firedThrough: Instant | null;
  /** Nothing is left to fire. */
  readonly isCompleted: boolean;
}

export interface JudgedYear {
  readonly record: YearRecord;
  readonly windows: OpenWindows;
}

/** Entries that stand for occurrences; those of calendars stand for instants that are none. */
const ofCalendars: ReadonlySet<string> = new Set(["calendar", "merged"]);

/** Asks every law of one job. */
export class JobJudge {
  readonly complaints: Complaint[] = [];
  readonly #year: JudgedYear;
  readonly #job: JobEvidence;
  readonly #named: readonly NamedInstants[];
  /** What must be accounted for, in order. */
  readonly #occurrences: readonly Instant[];

  constructor(year: JudgedYear, job: JobEvidence) {
    this.#year = year;
    this.#job = job;
    const { endedAt } = year.record;
    this.#named = job.life.rules.map(({ schedule, after, through }, index) => {
      // A rule that completed its job has its removed instants in the ledger up to its end, also those to come.
      const seen = through === Infinity && this.#isClosed(index) ? endOf(schedule) : endedAt;
      const last = Math.min(through, seen, lastOf(schedule, job.runs));
      return namedInstants(schedule, after, Math.max(after, last));
    });
    this.#occurrences = this.#named.flatMap((one) => one.occurrences);
  }

  judge(): readonly Complaint[] {
    const ranges = this.#job.ledger.filter((range) => !ofCalendars.has(range.reason));
    this.#judgeRuns();
    this.#judgeRanges(ranges);
    this.#judgeEach(ranges);
    for (const range of ranges) this.#judgeReason(range);
    this.#judgeCalendars();
    return this.complaints;
  }

  #complain(law: Law, at: Instant, detail: string): void {
    this.complaints.push({ law, jobId: this.#job.jobId, at, detail });
  }

  #judgeRuns(): void {
    const { runs, life, jobId } = this.#job;
    const named = new Set(this.#occurrences);
    for (const { nominal, createdAt, runAt } of runs) {
      if (!named.has(nominal)) this.#complain("invented", nominal, "a run of no occurrence");
      // One that waited while its job was edited may have gone by the jitter of the new rule.
      const jitter = Math.min(...life.rules.map(({ schedule }) => jitterOf(schedule, jobId, nominal)));
      // One that a window held has its instant as its time: when the windows change, only that is known of it.
      if (createdAt < nominal + jitter || runAt < nominal) {
        this.#complain(
          "early",
          nominal,
          `made at ${new Date(createdAt).toISOString()}, due ${jitter} ms after its instant`,
        );
      }
      if (this.#isClear(createdAt) && this.#year.windows.isOpen(life.drawn, createdAt)) {
        this.#complain("window", nominal, `made at ${new Date(createdAt).toISOString()}, inside a window`);
      }
    }
  }

  /** Whether all nodes used one clock, and that clock passed the instant only once. */
  #isClear(at: Instant): boolean {
    return !this.#year.record.unclear.some(({ from, to }) => from <= at && at <= to);
  }

  /** Ranges begin and end with an occurrence, count exactly what they span, and do not touch one another. */
  #judgeRanges(ranges: readonly MemoryRange[]): void {
    let through = -Infinity;
    for (const { from, to, count, reason } of ranges) {
      const inside = this.#countWithin(from, to);
      if (from <= through) this.#complain("range", from, `a ${reason} range begins inside another`);
      if (!this.#isOccurrence(from) || !this.#isOccurrence(to))
        this.#complain("invented", from, `a ${reason} range of no occurrence`);
      if (inside !== count) this.#complain("count", from, `a ${reason} range of ${count} spans ${inside} occurrences`);
      through = Math.max(through, to);
    }
  }

  /** Every occurrence has one run or one entry, and not both. */
  #judgeEach(ranges: readonly MemoryRange[]): void {
    const { runs } = this.#job;
    const { judgedTo } = this.#year.record;
    let [run, range] = [0, 0];
    for (const at of this.#occurrences) {
      while (run < runs.length && (runs[run]?.nominal ?? 0) < at) run += 1;
      while (range < ranges.length && (ranges[range]?.to ?? 0) < at) range += 1;
      let times = (ranges[range]?.from ?? Infinity) <= at ? 1 : 0;
      for (let nth = run; runs[nth]?.nominal === at; nth += 1) times += 1;
      if (times > 1) this.#complain("doubled", at, `accounted for ${times} times`);
      if (times === 0 && at <= judgedTo) this.#complain("lost", at, "neither a run nor an entry of the ledger");
    }
  }

  #judgeReason({ reason, from, to, recordedAt }: MemoryRange): void {
    const { life, runs, jobId } = this.#job;
    const { misfireThresholdMs = 60_000, overlap = "skip" } = life.drawn.spec.firing ?? {};
    const schedule = life.rules.find(({ after, through }) => after < from && from <= through)?.schedule;
    const dueAt = from + (schedule === undefined ? 0 : jitterOf(schedule, jobId, from));
    const detail = `${reason} from ${new Date(from).toISOString()}, recorded at ${new Date(recordedAt).toISOString()}`;
    const isJustified = (): boolean => {
      switch (reason) {
        case "missed":
          return recordedAt - dueAt > misfireThresholdMs || !this.#isClear(recordedAt);
        case "overlap":
          return (
            overlap !== "allow" &&
            runs.some(
              (run) => run.nominal < to && run.createdAt <= recordedAt && (run.finishedAt ?? Infinity) >= recordedAt,
            )
          );
        case "window":
          return this.#year.windows.wasOpenWithin(life.drawn, dueAt, recordedAt) || !this.#isClear(recordedAt);
        case "paused":
        case "superseded":
          return life.isChanged;
        default:
          return false;
      }
    };
    if (!isJustified()) this.#complain("reason", from, detail);
  }

  #judgeCalendars(): void {
    const { ledger, firedThrough } = this.#job;
    const removed = this.#named.flatMap((one) => one.removed);
    const ranges = ledger.filter((range) => range.reason === "calendar");
    let [through, counted] = [-Infinity, 0];
    for (const { from, to, count } of ranges) {
      const inside = removed.filter((at) => at >= from && at <= to).length;
      if (from <= through) this.#complain("calendar", from, "a range begins inside another");
      if (inside !== count) this.#complain("calendar", from, `a range of ${count} spans ${inside} instants`);
      through = Math.max(through, to);
      counted += count;
    }
    const expected = this.#named.flatMap((one, index) =>
      this.#isClosed(index) ? one.removed : one.removed.filter((at) => at <= (firedThrough ?? -1)),
    ).length;
    if (counted < expected) this.#complain("calendar", removed[0] ?? 0, `${counted} of ${expected} are in the ledger`);
    this.#judgeMerged();
  }

  /** Whether no later occurrence of a rule adds what calendars removed to the ledger: the rule was replaced, or has none left before its end. */
  #isClosed(index: number): boolean {
    const { life, isCompleted } = this.#job;
    const rule = life.rules[index];
    if (rule === undefined || rule.through !== Infinity) return true;
    return isCompleted && endOf(rule.schedule) !== Infinity;
  }

  #judgeMerged(): void {
    const { ledger, firedThrough } = this.#job;
    const noted = ledger.filter((range) => range.reason === "merged");
    const isNoted = (at: Instant): boolean => noted.some(({ from, to }) => from <= at && at <= to);
    const isRange = noted.some((range) => range.count > 1);
    const known: Instant[] = [];
    for (const [at, { origins, count }] of this.#named.flatMap((one) => [...one.merged])) {
      known.push(...origins);
      const found = origins.filter(isNoted).length;
      // A range may span the origin that the occurrence stands for.
      const isTooMany = found > (isRange ? origins.length : count);
      if (isTooMany || (at <= (firedThrough ?? -1) && found < count))
        this.#complain("merged", at, `${found} of ${count} are in the ledger`);
    }
    for (const { from, to, count } of noted)
      if (known.filter((at) => at >= from && at <= to).length < count)
        this.#complain("merged", from, "an entry of nothing that moved");
  }

  #isOccurrence(at: Instant): boolean {
    return this.#occurrences[this.#placeOf(at)] === at;
  }

  #countWithin(from: Instant, to: Instant): number {
    return this.#placeOf(to + 1) - this.#placeOf(from);
  }

  /** How many occurrences are before an instant. */
  #placeOf(at: Instant): number {
    let [low, high] = [0, this.#occurrences.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#occurrences[middle] ?? Infinity) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The end of a rule, after which it names no instant. */
function endOf(schedule: JobLife["rules"][number]["schedule"]): Instant {
  return "endsAt" in schedule ? (schedule.endsAt ?? Infinity) : Infinity;
}

/** A schedule with max_runs has no occurrence after the last run, also if earlier schedules of the job created some of the runs. */
function lastOf(schedule: JobLife["rules"][number]["schedule"], runs: readonly RunOfJob[]): Instant {
  const maxRuns = "maxRuns" in schedule ? (schedule.maxRuns ?? Infinity) : Infinity;
  return runs[maxRuns - 1]?.nominal ?? Infinity;
}

/** The delay is a hash that every node computes; the judge takes it from the product, and only checks that it was waited for. */
function jitterOf(schedule: JobLife["rules"][number]["schedule"], jobId: string, nominal: Instant): number {
  const jitterMs = "jitterMs" in schedule ? (schedule.jitterMs ?? 0) : 0;
  if (jitterMs === 0) return 0;
  return compileSchedule(
    { kind: "every", everyMs: 2 * jitterMs + 1_000, anchor: 0, jitterMs },
    { jobId, checked: true },
  ).jitterAt(nominal);
}
