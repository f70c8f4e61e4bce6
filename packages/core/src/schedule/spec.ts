import type { DurationMs, Instant } from "../time/instant.js";

/** How a schedule treats clock changes; see "When the clock changes" in docs/guides/schedules.md. */
export interface DstPolicy {
  readonly gap?: "after" | "skip";
  readonly overlap?: "first" | "second" | "both";
}

/** How a fire that a calendar excludes is treated. */
export type Roll = "skip" | "next" | "previous" | "modified_following";

/** Names calendars of the namespace; `only` and `exclude` may both be given. */
export interface CalendarRule {
  readonly exclude?: readonly string[];
  readonly only?: readonly string[];
  readonly roll?: Roll;
}

/** The members that every recurring kind can have. */
export interface ScheduleBounds {
  /** Fires are not before this instant. */
  readonly startsAt?: Instant;
  /** Fires are not after this instant. */
  readonly endsAt?: Instant;
  readonly maxRuns?: number;
  /** Upper bound of the delay added to each nominal instant: a hash of job and instant, never a random number. */
  readonly jitterMs?: DurationMs;
  readonly calendars?: CalendarRule;
}

export interface CronSchedule extends ScheduleBounds {
  readonly kind: "cron";
  readonly cron: string;
  /** IANA name, kept as the user wrote it. */
  readonly timeZone: string;
  readonly dayMatch?: "or" | "and";
  readonly dst?: DstPolicy;
}

/** Elapsed time from an anchor; only calendars use the zone. */
export interface EverySchedule extends ScheduleBounds {
  readonly kind: "every";
  readonly everyMs: DurationMs;
  readonly anchor: Instant;
  readonly timeZone?: string;
}

/** One instant. `delay` on the wire becomes one of these when the job is accepted. */
export interface AtSchedule {
  readonly kind: "at";
  readonly at: Instant;
}

/** Runs only on request. */
export interface ManualSchedule {
  readonly kind: "manual";
}

/** Fires when other jobs finish. */
export interface AfterSchedule {
  readonly kind: "after";
  readonly after: readonly {
    readonly job: string;
    readonly on: "success" | "failure" | "finish";
    readonly when?: string;
  }[];
  readonly mode?: "all" | "any";
}

/** The rule of a job, normalised: instants and durations are numbers, the zone has its default. Stored as JSON. */
export type ScheduleSpec = CronSchedule | EverySchedule | AtSchedule | ManualSchedule | AfterSchedule;
