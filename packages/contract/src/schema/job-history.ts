import { ledgerReasons } from "@carillon/core";
import { Type, type Static } from "typebox";
import { JobDefinition, Warning } from "./job.js";
import { limits } from "./limits.js";
import { NextPageToken, paging } from "./paging.js";
import { Count, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const JobVersion = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    definition: JobDefinition,
    valid_from: Timestamp,
    valid_to: nullable(Type.Unsafe<string>({ ...Timestamp, description: "Null: it is in force" })),
    replaced_by: nullable(Type.String({ description: "Who replaced it, where that is known" })),
  },
  { title: "JobVersion", additionalProperties: false, description: "A definition and when it was in force" },
);

export const JobVersionList = Type.Object(
  { versions: Type.Array(JobVersion), next_page_token: NextPageToken },
  { title: "JobVersionList", additionalProperties: false },
);

const Occurrences = Type.Object(
  {
    reason: stringEnum(ledgerReasons, { description: "Why they have no scheduled run" }),
    from: Timestamp,
    to: Timestamp,
    count: Count("How many, the first at from, the last at to"),
    version: Type.Integer({ minimum: 1, description: "Of the job, when it was written" }),
    detail: nullable(Type.String({ description: "Such as the maintenance window's name" })),
  },
  { title: "Occurrences", additionalProperties: false },
);

export const OccurrenceList = Type.Object(
  { occurrences: Type.Array(Occurrences), next_page_token: NextPageToken },
  { title: "OccurrenceList", additionalProperties: false },
);

/** Lists that have nothing to filter by. */
export const PageQuery = Type.Object(paging, { additionalProperties: false });

export const UpcomingQuery = Type.Object(
  {
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: limits.defaultUpcoming,
        description: `How many fires at most; more than ${limits.upcoming} counts as ${limits.upcoming}`,
      }),
    ),
  },
  { additionalProperties: false },
);

const UpcomingFire = Type.Object(
  {
    outcome: stringEnum(["fires", "excluded"], { description: "excluded: the calendars take it away" }),
    scheduled_for: Timestamp,
    run_at: Type.Unsafe<string>({ ...Timestamp, description: "Later by the jitter" }),
    local_time: Type.String({
      description: "On the clocks of the schedule's zone",
      examples: ["2026-03-29T03:00:00+02:00"],
    }),
    notes: Type.Array(Type.Object({ kind: Type.String(), detail: Type.String() }, { additionalProperties: false }), {
      description: "What clock changes and calendars did to it",
    }),
  },
  { title: "UpcomingFire", additionalProperties: false },
);

export const Upcoming = Type.Object(
  { fires: Type.Array(UpcomingFire, { description: "In order of time" }) },
  { title: "Upcoming", additionalProperties: false },
);

export const JobPreview = Type.Object(
  {
    description: Type.String({ description: "The schedule in words" }),
    fires: Upcoming.properties.fires,
    warnings: Type.Array(Warning),
  },
  { title: "JobPreview", additionalProperties: false, description: "What a job would do; nothing was stored" },
);

export type JobVersion = Static<typeof JobVersion>;
export type JobVersionList = Static<typeof JobVersionList>;
export type Occurrences = Static<typeof Occurrences>;
export type OccurrenceList = Static<typeof OccurrenceList>;
export type PageQuery = Static<typeof PageQuery>;
export type UpcomingQuery = Static<typeof UpcomingQuery>;
export type UpcomingFire = Static<typeof UpcomingFire>;
export type Upcoming = Static<typeof Upcoming>;
export type JobPreview = Static<typeof JobPreview>;
