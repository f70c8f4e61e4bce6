import { jobStates, ledgerReasons } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { closed, Count, described, nullable, object, stringEnum, Text, Timestamp } from "../fields.js";
import {
  definitionErrors,
  filterErrors,
  type Operation,
  pageAnswer,
  queryErrors,
  singleAnswer,
  storeErrors,
} from "../operation.js";
import { pageOf, PageQuery, paging } from "../paging.js";
import { JobPreviewRequest } from "./job-create.js";
import { Job, JobDefinition, JobRef } from "./job.js";
import { Warning } from "./warning.js";
import { explanationFields, listFilters, RunExplanation, RunList, RunListQuery } from "./run.js";

const JobVersion = object(
  "JobVersion",
  {
    version: Type.Integer({ minimum: 1 }),
    definition: JobDefinition,
    valid_from: Timestamp,
    valid_to: nullable(described(Timestamp, "Null while it is in force")),
    replaced_by: nullable(Text("Who replaced it, where that is known")),
  },
  { description: "A definition and the time in which it was in force" },
);
export type JobVersion = Static<typeof JobVersion>;

export const JobVersionList = pageOf("JobVersionList", { versions: Type.Array(JobVersion) });
export type JobVersionList = Static<typeof JobVersionList>;

const Occurrences = object("Occurrences", {
  reason: stringEnum(ledgerReasons, { description: "Why they have no scheduled run" }),
  from: Timestamp,
  to: Timestamp,
  count: Count("The number of occurrences: the first at from, the last at to"),
  version: Type.Integer({ minimum: 1, description: "The version of the job when the entry was written" }),
  detail: nullable(Text("Details, such as the name of the maintenance window")),
});
export type Occurrences = Static<typeof Occurrences>;

export const OccurrenceList = pageOf("OccurrenceList", { occurrences: Type.Array(Occurrences) });
export type OccurrenceList = Static<typeof OccurrenceList>;

export const UpcomingQuery = closed({
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: limits.defaultUpcoming,
      description: `The largest number of fires; more than ${limits.upcoming} counts as ${limits.upcoming}`,
    }),
  ),
});
export type UpcomingQuery = Static<typeof UpcomingQuery>;

const UpcomingFire = object("UpcomingFire", {
  outcome: stringEnum(["fires", "excluded"], { description: "excluded: the calendars exclude it" }),
  scheduled_for: Timestamp,
  run_at: described(Timestamp, "Its time with jitter"),
  local_time: Type.String({
    description: "The local time in the schedule's time zone",
    examples: ["2026-03-29T03:00:00+02:00"],
  }),
  notes: Type.Array(closed({ kind: Type.String(), detail: Type.String() }), {
    description: "How clock changes and calendars affected it",
  }),
});
export type UpcomingFire = Static<typeof UpcomingFire>;

export const Upcoming = object("Upcoming", { fires: Type.Array(UpcomingFire, { description: "In order of time" }) });
export type Upcoming = Static<typeof Upcoming>;

export const JobPreview = object(
  "JobPreview",
  {
    description: Text("The schedule in words"),
    fires: Upcoming.properties.fires,
    warnings: Type.Array(Warning),
  },
  { description: "What a job would do. Nothing was stored" },
);
export type JobPreview = Static<typeof JobPreview>;

export const JobStats = object("JobStats", {
  finished: Count("Runs in the statistics: the last ones that ended, at most 1,000"),
  succeeded: Count("Of these, runs with this end"),
  failed: Count("Of these, runs with this end"),
  cancelled: Count("Of these, runs with this end"),
  skipped: Count("Of these, runs with this end"),
  retried: Count("Of these, runs with more than one attempt"),
  first_at: nullable(Timestamp),
  last_at: nullable(Timestamp),
  duration_p50_ms: nullable(Type.Number()),
  duration_p95_ms: nullable(Type.Number()),
  lag_p95_ms: nullable(Type.Number({ description: "How long after their time runs started" })),
});
export type JobStats = Static<typeof JobStats>;

export const JobExplanation = object(
  "JobExplanation",
  {
    job_id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    state: stringEnum(jobStates),
    code: Text("fires, fires_now, window, paused, completed, cancelled, manual, after, never"),
    ...explanationFields,
    next_run_at: nullable(Timestamp),
    upstream: Type.Optional(Type.Unsafe<NonNullable<Job["upstream"]>>(Job.properties.upstream)),
    run: nullable(RunExplanation),
    outcomes: described(
      OccurrenceList.properties.occurrences,
      "The newest entries of the ledger: occurrences without a run, with their reasons",
    ),
    warnings: Type.Unsafe<NonNullable<Job["warnings"]>>({ ...Job.properties.warnings }),
  },
  { description: "Whether a job fires and when, or why it does not" },
);
export type JobExplanation = Static<typeof JobExplanation>;

/** The runs of one job: the path names it. */
export const JobRunListQuery = closed({
  ...paging,
  status: listFilters.status,
  worker_id: RunListQuery.properties.worker_id,
  trigger: RunListQuery.properties.trigger,
  label_selector: listFilters.label_selector,
  created_after: listFilters.created_after,
  created_before: listFilters.created_before,
  order_by: listFilters.order_by,
  payload: listFilters.payload,
  total: listFilters.total,
});
export type JobRunListQuery = Static<typeof JobRunListQuery>;

const reading = { method: "GET", tag: "Jobs", permission: "jobs:read", rateClass: "read", params: JobRef } as const;

export const listJobVersions = {
  ...reading,
  path: "/v1/jobs/{id}/versions",
  aliases: [{ path: "/jobs/{id}/versions" }],
  client: "jobs.versions",
  summary: "List the versions of a job, newest first",
  description: "The first one is in force. A pause or a resume increases the version, too, but does not appear here.",
  query: PageQuery,
  ...pageAnswer(JobVersionList),
} as const satisfies Operation;

export const listJobOccurrences = {
  ...reading,
  path: "/v1/jobs/{id}/occurrences",
  aliases: [{ path: "/jobs/{id}/occurrences" }],
  client: "jobs.occurrences",
  summary: "List the occurrences without a scheduled run, newest first",
  description: "The ledger: missed, overlapping, paused, excluded and other occurrences, as ranges with their reason.",
  query: PageQuery,
  ...pageAnswer(OccurrenceList),
} as const satisfies Operation;

export const listJobUpcoming = {
  ...reading,
  path: "/v1/jobs/{id}/upcoming",
  aliases: [{ path: "/jobs/{id}/upcoming" }],
  client: "jobs.upcoming",
  summary: "List the next fires of a job",
  query: UpcomingQuery,
  ...singleAnswer(Upcoming, "The next fires, and the occurrences between them that calendars exclude"),
} as const satisfies Operation;

export const previewJob = {
  method: "POST",
  path: "/v1/jobs:preview",
  aliases: [{ path: "/jobs:preview" }],
  tag: "Jobs",
  client: "jobs.preview",
  summary: "Preview a job",
  description: "Takes the same body as creating a job (task may be left out) and stores nothing.",
  permission: "jobs:read",
  rateClass: "read",
  query: UpcomingQuery,
  body: JobPreviewRequest,
  ...singleAnswer(JobPreview, "Its next fires and warnings", [...definitionErrors, ...storeErrors]),
} as const satisfies Operation;

const reads = { method: "GET", tag: "Jobs", permission: "runs:read", rateClass: "read", params: JobRef } as const;

export const listJobRuns = {
  ...reads,
  path: "/v1/jobs/{id}/runs",
  aliases: [{ path: "/jobs/{id}/runs" }],
  client: "jobs.runs",
  summary: "List the runs of a job, newest first",
  query: JobRunListQuery,
  answers: { 200: { description: "One page", schema: RunList } },
  errors: ["not_found", ...queryErrors, ...filterErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getJobStats = {
  ...reads,
  path: "/v1/jobs/{id}/stats",
  aliases: [{ path: "/jobs/{id}/stats" }],
  client: "jobs.stats",
  summary: "Get statistics of the last runs of a job",
  ...singleAnswer(JobStats, "Counts, durations and lateness"),
} as const satisfies Operation;

export const explainJob = {
  method: "GET",
  path: "/v1/jobs/{id}/explain",
  aliases: [{ path: "/jobs/{id}/explain" }],
  tag: "Jobs",
  client: "jobs.explain",
  summary: "Explain whether and when a job fires",
  description: "Includes what its newest run waits for or how it ended, and the newest entries of the ledger.",
  permission: "jobs:read",
  rateClass: "read",
  params: JobRef,
  ...singleAnswer(JobExplanation, "The explanation"),
} as const satisfies Operation;
