import {
  type AfterSchedule,
  type AtSchedule,
  type CalendarRule as CoreCalendarRule,
  checkSchedule,
  type CronSchedule,
  type DurationMs,
  type EverySchedule,
  formatDuration,
  formatInstant,
  type Instant,
  isErrorCode,
  maxDurationMs,
  minEveryMs,
  parseInstant,
  present,
  resolveZone,
  type ScheduleBounds,
  type ScheduleSpec,
} from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import {
  CalendarName,
  CronText,
  durationText,
  DurationText,
  LocalInstantText,
  object,
  type Placed,
  readDuration,
  stringEnum,
  TimeZoneText,
  Timestamp,
  WholeNumber,
} from "../fields.js";
import { ifGiven } from "../rules.js";
import { refuseLongPast } from "./request-context.js";

const Cron = CronText(
  "A cron expression: five fields, or six with seconds first, or a macro such as @daily",
  "*/15 * * * *",
);

const DayMatch = stringEnum(["or", "and"], {
  description: "If both day fields are restricted: one must match (or), or both must (and)",
});

const MaxRuns = WholeNumber(1, 2_147_483_647, "The largest number of fires");

const Dst = object(
  "Dst",
  {
    gap: Type.Optional(stringEnum(["after", "skip"], { description: "A local time that a clock change skips" })),
    overlap: Type.Optional(
      stringEnum(["first", "second", "both"], { description: "A local time that a clock change repeats" }),
    ),
  },
  { description: "How fixed local times behave at clock changes" },
);

const CalendarNames = (description: string) =>
  Type.Array(CalendarName, { maxItems: limits.calendars, description, examples: [["de-holidays"]] });

const calendarRule = {
  exclude: Type.Optional(CalendarNames("No fires on the days of these calendars")),
  only: Type.Optional(CalendarNames("Fires only on the days of these calendars")),
  roll: Type.Optional(
    stringEnum(["skip", "next", "previous", "modified_following"], {
      description:
        "What happens to an excluded fire: it is dropped, or moves to the next or previous open day; skip by default",
    }),
  ),
};

const CalendarRule = object("CalendarRule", calendarRule, {
  description: "Calendars that exclude days, or to whose days fires are restricted",
  examples: [{ exclude: ["de-holidays"] }],
  anyOf: (["exclude", "only"] as const).map((name) => ({
    properties: { [name]: { minItems: 1 } },
    required: [name],
  })),
  "x-carillon-rules": [{ code: "schedule_invalid", rule: "No calendar is in exclude and in only" }],
});

const upstreamEnds = ["success", "failure", "finish"] as const;

const upstreamFields = {
  job: Type.String({ minLength: 1, maxLength: limits.nameLength, description: "The key or id of another job" }),
  on: stringEnum(upstreamEnds, {
    description: "Which ends of its runs count; finish means any end, including a cancellation",
  }),
  when: Type.String({
    minLength: 1,
    maxLength: limits.conditionLength,
    format: "cel",
    description: "A CEL condition over output, status, reason, attempt, error and payload of the run that ended",
    examples: ["output.rows > 0"],
  }),
};

const AfterRequest = Type.Array(
  object("UpstreamRequest", {
    job: upstreamFields.job,
    on: Type.Optional(upstreamFields.on),
    when: Type.Optional(upstreamFields.when),
  }),
  {
    minItems: 1,
    maxItems: limits.upstreams,
    description: "Fires when runs of other jobs end; on success by default",
    examples: [[{ job: "etl.extract" }]],
  },
);

const After = Type.Array(
  object("Upstream", { job: upstreamFields.job, on: upstreamFields.on, when: Type.Optional(upstreamFields.when) }),
);

const Mode = stringEnum(["all", "any"], {
  description:
    "With several jobs: fires once per round, when the latest run of each meets its condition (all, the default), or for " +
    "every run that does (any)",
});

const everyBounds = { minMs: minEveryMs, maxMs: maxDurationMs };

export const scheduleKinds = ["cron", "every", "at", "delay", "manual", "now", "after"] as const;

export type ScheduleKind = (typeof scheduleKinds)[number];

const boundFields = ["jitter", "starts_at", "ends_at", "max_runs", "calendars"];

/** Fields that each kind may have. Any other field would have no effect, so it is refused. */
const companions: Readonly<Record<ScheduleKind, readonly string[]>> = {
  cron: ["time_zone", "day_match", "dst", ...boundFields],
  every: ["time_zone", ...boundFields],
  at: ["time_zone"],
  delay: [],
  manual: [],
  now: [],
  after: ["mode"],
};

export const ScheduleRequest = object(
  "ScheduleRequest",
  {
    cron: Type.Optional(Cron),
    every: Type.Optional(
      DurationText("The time between fires, counted from starts_at or from creation.", "15m", everyBounds),
    ),
    at: Type.Optional(LocalInstantText("A single instant. Without an offset it needs time_zone.")),
    delay: Type.Optional(DurationText("Fires once, this long after creation.", "3d")),
    manual: Type.Optional(Type.Literal(true, { description: "Fires only on request" })),
    now: Type.Optional(Type.Literal(true, { description: "Fires once, immediately: the same as no schedule" })),
    after: Type.Optional(AfterRequest),
    mode: Type.Optional(Mode),
    time_zone: Type.Optional(TimeZoneText("The IANA name of a time zone; UTC by default")),
    day_match: Type.Optional(DayMatch),
    dst: Type.Optional(Dst),
    jitter: Type.Optional(
      DurationText("Delays each fire by up to this; the delay of an occurrence is the same on every node.", "30s"),
    ),
    starts_at: Type.Optional(LocalInstantText("The schedule does not fire before this instant")),
    ends_at: Type.Optional(LocalInstantText("The schedule does not fire after this instant")),
    max_runs: Type.Optional(MaxRuns),
    calendars: Type.Optional(CalendarRule),
  },
  {
    description: "Exactly one of cron, every, at, delay, manual, now, after, and the fields that go with it",
    allOf: scheduleKinds.map((kind) => ifGiven([kind], { propertyNames: { enum: [kind, ...companions[kind]] } })),
    "x-carillon-rules": [
      { code: "schedule_invalid", rule: "jitter is shorter than the shortest time between two fires" },
      { code: "schedule_invalid", rule: "ends_at is not before starts_at; instants lie between 1970 and 9999" },
      { code: "schedule_invalid", rule: "after names no job twice with the same on" },
      { code: "instant_invalid", rule: "Without an offset, an instant needs time_zone" },
      { code: "schedule_in_past", rule: "at lies at most 24 h in the past, unless misfire is run_once" },
      { code: "calendar_unknown", rule: "The calendars exist" },
      { code: "upstream_unknown", rule: "The jobs of after exist" },
      { code: "dependency_cycle", rule: "The dependencies of jobs form no cycle" },
      { code: "condition_invalid", rule: "The condition uses only output, status, reason, attempt, error and payload" },
    ],
  },
);
export type ScheduleRequest = Static<typeof ScheduleRequest>;

export const Schedule = object(
  "Schedule",
  {
    cron: Type.Optional(Type.String()),
    every: Type.Optional(Type.String({ examples: ["15m"] })),
    at: Type.Optional(Timestamp),
    manual: Type.Optional(Type.Literal(true)),
    after: Type.Optional(After),
    mode: Type.Optional(Mode),
    time_zone: Type.Optional(Type.String()),
    day_match: Type.Optional(DayMatch),
    dst: Type.Optional(Dst),
    jitter: Type.Optional(Type.String()),
    starts_at: Type.Optional(Timestamp),
    ends_at: Type.Optional(Timestamp),
    max_runs: Type.Optional(MaxRuns),
    calendars: Type.Optional(CalendarRule),
    anchor: Type.Optional(Timestamp),
  },
  {
    examples: [{ cron: "0 9 * * MON-FRI", time_zone: "Europe/Paris" }],
    description:
      "The schedule in force: one of cron, every, at, manual, after. A delay is stored as the instant that it leads to",
  },
);
export type Schedule = Static<typeof Schedule>;

type ScheduleField = keyof ScheduleRequest;

export function isCompanion(kind: ScheduleKind, field: string): boolean {
  return field === kind || companions[kind].some((companion) => companion === field);
}

/** The schedule of a request, each field with the place where the caller wrote it. */
export type ScheduleDraft = {
  readonly [Name in ScheduleField]?: Placed<NonNullable<ScheduleRequest[Name]>>;
};

interface ScheduleContext {
  readonly now: Instant;
  readonly findings: Findings;
  readonly catchupWindowMs?: DurationMs;
  /** An instant of any age is accepted, because the caller sent run_once. */
  readonly anyAge: boolean;
  /** The schedule that this one replaces. */
  readonly current?: ScheduleSpec;
}

/** The stored form of the schedule, or undefined with its faults recorded. */
export function scheduleSpec(draft: ScheduleDraft, context: ScheduleContext): ScheduleSpec | undefined {
  const kind = kindOf(draft, context.findings);
  if (kind === undefined) return undefined;
  checkCompanions(kind, draft, context.findings);
  const spec = specOf(kind, draft, context);
  if (spec === undefined) return undefined;
  for (const { pointer, code, detail } of checkSchedule(spec)) {
    const where = writtenAt(pointer, draft);
    if (!context.findings.hasInside(where)) {
      context.findings.add(where, isErrorCode(code) ? code : "schedule_invalid", detail);
    }
  }
  return spec;
}

function specOf(kind: ScheduleKind, draft: ScheduleDraft, context: ScheduleContext): ScheduleSpec | undefined {
  switch (kind) {
    case "cron":
      return cronSpec(draft, context);
    case "every":
      return everySpec(draft, context);
    case "at":
      return atSpec(draft, context);
    case "delay":
      return delaySpec(draft, context);
    case "manual":
      return { kind: "manual" };
    case "after":
      return afterSpec(draft);
    default:
      return nowSpec(draft, context);
  }
}

/** Where the caller wrote a field that core refuses. */
function writtenAt(pointer: string, draft: ScheduleDraft): string {
  const placed = Object.entries(draft).find(([name]) => pointer === `/${name}` || pointer.startsWith(`/${name}/`));
  return placed?.[1].pointer ?? draft.delay?.pointer ?? `/schedule${pointer}`;
}

/** Without a kind the job runs at once, or keeps the instant that it has. */
function kindOf(draft: ScheduleDraft, findings: Findings): ScheduleKind | undefined {
  const given = scheduleKinds.filter((kind) => draft[kind] !== undefined);
  const [first, second] = given;
  if (second !== undefined) {
    const detail = `A schedule has one of ${scheduleKinds.join(", ")}. This one has ${given.join(" and ")}.`;
    findings.add(draft[second]?.pointer ?? "/schedule", "schedule_invalid", detail);
    return undefined;
  }
  if (first !== undefined) return first;
  const [stray] = Object.entries(draft);
  if (stray === undefined) return "now";
  const detail = `${stray[0]} needs a schedule: one of ${scheduleKinds.join(", ")}.`;
  findings.add(stray[1].pointer, "schedule_invalid", detail);
  return undefined;
}

function checkCompanions(kind: ScheduleKind, draft: ScheduleDraft, findings: Findings): void {
  for (const [name, placed] of Object.entries(draft)) {
    if (isCompanion(kind, name) || scheduleKinds.some((other) => other === name)) continue;
    findings.add(placed.pointer, "schedule_invalid", `${name} has no meaning with ${kind}. Leave it out.`);
  }
}

function afterSpec(draft: ScheduleDraft): AfterSchedule | undefined {
  if (draft.after === undefined) return undefined;
  return {
    kind: "after",
    after: draft.after.value.map(({ job, on = "success", when }) => ({
      // As in URLs, a key may have an @ before it.
      job: job.replace(/^@/, ""),
      on,
      ...(when !== undefined && { when }),
    })),
    ...(draft.mode && { mode: draft.mode.value }),
  };
}

function cronSpec(draft: ScheduleDraft, context: ScheduleContext): CronSchedule | undefined {
  if (draft.cron === undefined) return undefined;
  return {
    kind: "cron",
    cron: draft.cron.value,
    timeZone: draft.time_zone?.value ?? "UTC",
    ...(draft.day_match && { dayMatch: draft.day_match.value }),
    ...(draft.dst && { dst: draft.dst.value }),
    ...boundsOf(draft, context),
  };
}

function everySpec(draft: ScheduleDraft, context: ScheduleContext): EverySchedule | undefined {
  const everyMs = readDraftDuration(draft.every, context);
  const bounds = boundsOf(draft, context);
  if (everyMs === undefined) return undefined;
  const zone = draft.time_zone && { timeZone: draft.time_zone.value };
  const anchor = bounds.startsAt ?? anchorBefore(everyMs, context) ?? context.now;
  return { kind: "every", everyMs, anchor, ...zone, ...bounds };
}

/** Sending the same interval again does not shift it. */
function anchorBefore(everyMs: DurationMs, { current }: ScheduleContext): Instant | undefined {
  return current?.kind === "every" && current.everyMs === everyMs ? current.anchor : undefined;
}

function atSpec(draft: ScheduleDraft, context: ScheduleContext): AtSchedule | undefined {
  const zone = draft.time_zone;
  if (zone !== undefined) context.findings.attempt(zone.pointer, () => resolveZone(zone.value));
  const at = readDraftInstant(draft.at, context, draft);
  if (at === undefined) return undefined;
  const { current, anyAge, findings } = context;
  const isUnchanged = current?.kind === "at" && current.at === at;
  if (!isUnchanged && !anyAge) {
    const hint = 'Send a later instant, none to run at once, or misfire "run_once".';
    refuseLongPast(at, context, { pointer: draft.at?.pointer ?? "/schedule/at", hint, findings });
  }
  return { kind: "at", at };
}

/** A request without a schedule leaves an existing one-off job as it is, so that the same request can be sent twice. */
function nowSpec(draft: ScheduleDraft, { now, current, findings }: ScheduleContext): AtSchedule | undefined {
  if (current === undefined || draft.now !== undefined) return { kind: "at", at: now };
  if (current.kind === "at") return current;
  const detail = "The job exists and recurs. Send its schedule, or call :runNow to run it at once.";
  findings.add("/schedule", "schedule_invalid", detail);
  return undefined;
}

function delaySpec(draft: ScheduleDraft, context: ScheduleContext): AtSchedule | undefined {
  const delayMs = readDraftDuration(draft.delay, context);
  return delayMs === undefined ? undefined : { kind: "at", at: context.now + delayMs };
}

function boundsOf(draft: ScheduleDraft, context: ScheduleContext): ScheduleBounds {
  const startsAt = readDraftInstant(draft.starts_at, context, draft);
  const endsAt = readDraftInstant(draft.ends_at, context, draft);
  const jitterMs = readDraftDuration(draft.jitter, context);
  return {
    ...present({ startsAt, endsAt }),
    ...(draft.max_runs && { maxRuns: draft.max_runs.value }),
    ...(jitterMs !== undefined && { jitterMs }),
    ...(draft.calendars && { calendars: draft.calendars.value }),
  };
}

function readDraftDuration(placed: Placed<string> | undefined, { findings }: ScheduleContext): number | undefined {
  return placed && readDuration(placed.value, placed.pointer, findings);
}

function readDraftInstant(
  placed: Placed<string> | undefined,
  { findings }: ScheduleContext,
  draft: ScheduleDraft,
): Instant | undefined {
  return (
    placed && findings.attempt(placed.pointer, () => parseInstant(placed.value, readableZone(draft.time_zone?.value)))
  );
}

/** An unknown time zone is recorded at its own field; instants are then read in UTC, so that it is recorded only once. */
function readableZone(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : resolveZone(name).name;
  } catch {
    return "UTC";
  }
}

export function scheduleRequest(schedule: ScheduleSpec): ScheduleRequest {
  switch (schedule.kind) {
    case "at":
      return { at: formatInstant(schedule.at) };
    case "manual":
      return { manual: true };
    case "after":
      return {
        after: schedule.after.map((one) => ({ ...one })),
        ...(schedule.mode !== undefined && { mode: schedule.mode }),
      };
    default: {
      const { timeZone, startsAt, endsAt, maxRuns, jitterMs, calendars } = schedule;
      const rule =
        schedule.kind === "every"
          ? { every: formatDuration(schedule.everyMs) }
          : {
              cron: schedule.cron,
              ...(schedule.dayMatch !== undefined && { day_match: schedule.dayMatch }),
              ...(schedule.dst !== undefined && { dst: { ...schedule.dst } }),
            };
      return {
        ...rule,
        ...present({
          time_zone: timeZone,
          starts_at: startsAt === undefined ? undefined : formatInstant(startsAt),
          ends_at: endsAt === undefined ? undefined : formatInstant(endsAt),
          max_runs: maxRuns,
          jitter: durationText(jitterMs),
          calendars: calendars && calendarRequest(calendars),
        }),
      };
    }
  }
}

function calendarRequest({ exclude, only, roll }: CoreCalendarRule): NonNullable<ScheduleRequest["calendars"]> {
  return present({ exclude: exclude && [...exclude], only: only && [...only], roll });
}
