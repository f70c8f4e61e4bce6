import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { CalendarName, DurationText, InstantText, Timestamp } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const Cron = Type.String({
  minLength: 1,
  maxLength: limits.cronLength,
  description: "Five fields, or six with seconds first, or a macro such as @daily",
  examples: ["*/15 * * * *"],
});
const DayMatch = stringEnum(["or", "and"], {
  description: "With both day fields restricted: either matches (or), or both must (and)",
});
const MaxRuns = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Fires at most this often" });

const Dst = Type.Object(
  {
    gap: Type.Optional(stringEnum(["after", "skip"], { description: "A time that a clock change swallows" })),
    overlap: Type.Optional(stringEnum(["first", "second", "both"], { description: "A time that it repeats" })),
  },
  { title: "Dst", additionalProperties: false, description: "What happens to fixed times at clock changes" },
);

const CalendarNames = (description: string) =>
  Type.Array(CalendarName, { maxItems: limits.calendars, description, examples: [["de-holidays"]] });

const calendarRule = {
  exclude: Type.Optional(CalendarNames("No fire on their days")),
  only: Type.Optional(CalendarNames("Fires on their days only")),
  roll: Type.Optional(
    stringEnum(["skip", "next", "previous", "modified_following"], {
      description: "An excluded fire is dropped, or moves to the next or previous open day; skip by default",
    }),
  ),
};
const CalendarRule = Type.Object(calendarRule, {
  title: "CalendarRule",
  additionalProperties: false,
  description: "Named calendars that exclude days, or allow only theirs",
  examples: [{ exclude: ["de-holidays"] }],
});

const onEnd = ["success", "failure", "finish"] as const;
const Upstream = {
  job: Type.String({ minLength: 1, maxLength: limits.nameLength, description: "Key or id of another job" }),
  on: stringEnum(onEnd, { description: "Which ends of its runs count: finish is any, cancelled ones too" }),
  when: Type.String({
    minLength: 1,
    maxLength: limits.conditionLength,
    description: "CEL over output, status, reason, attempt, error and payload of the run that ended",
    examples: ["output.rows > 0"],
  }),
};
const AfterRequest = Type.Array(
  Type.Object(
    { job: Upstream.job, on: Type.Optional(Upstream.on), when: Type.Optional(Upstream.when) },
    { title: "UpstreamRequest", additionalProperties: false },
  ),
  {
    minItems: 1,
    maxItems: limits.upstreams,
    description: "When runs of other jobs end; on success by default",
    examples: [[{ job: "etl.extract" }]],
  },
);
const After = Type.Array(
  Type.Object(
    { job: Upstream.job, on: Upstream.on, when: Type.Optional(Upstream.when) },
    { title: "Upstream", additionalProperties: false },
  ),
);
const Mode = stringEnum(["all", "any"], {
  description:
    "With several: once per round, when the latest run of each fits (all, the default), or at each that fits (any)",
});

/** Exactly one of cron, every, at, delay, manual, now, after; the checker says so, because JSON Schema says it unreadably. */
export const ScheduleRequest = Type.Object(
  {
    cron: Type.Optional(Cron),
    every: Type.Optional(DurationText("Elapsed time between fires, counted from starts_at or creation.", "15m")),
    at: Type.Optional(InstantText("One instant. Without an offset it needs time_zone.")),
    delay: Type.Optional(DurationText("Once, this long after creation.", "3d")),
    manual: Type.Optional(Type.Literal(true, { description: "Only when asked" })),
    now: Type.Optional(Type.Literal(true, { description: "Once, at once: the same as no schedule" })),
    after: Type.Optional(AfterRequest),
    mode: Type.Optional(Mode),
    time_zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.parsedTextLength,
        description: "IANA name; UTC by default",
        examples: ["Europe/Paris"],
      }),
    ),
    day_match: Type.Optional(DayMatch),
    dst: Type.Optional(Dst),
    jitter: Type.Optional(DurationText("Adds a delay up to this, the same for an occurrence on every node.", "30s")),
    starts_at: Type.Optional(InstantText("Nothing fires before")),
    ends_at: Type.Optional(InstantText("Nothing fires after")),
    max_runs: Type.Optional(MaxRuns),
    calendars: Type.Optional(CalendarRule),
  },
  {
    title: "ScheduleRequest",
    additionalProperties: false,
    description: "Exactly one of cron, every, at, delay, manual, now, after",
  },
);

export const Schedule = Type.Object(
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
    title: "Schedule",
    additionalProperties: false,
    description: "The rule in force: one of cron, every, at, manual, after. A delay has become the instant it meant.",
  },
);

export type ScheduleRequest = Static<typeof ScheduleRequest>;
export type Schedule = Static<typeof Schedule>;
