import type { Instant } from "@carillon/core";
import { type Static, Type } from "typebox";
import { backfillDefaults, backfillLimits } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import {
  Count,
  described,
  Flag,
  IdText,
  InstantText,
  nullable,
  object,
  readInstant,
  stringEnum,
  Text,
  Timestamp,
} from "../fields.js";
import {
  bodyErrors,
  changeErrors,
  type Operation,
  pageAnswer,
  singleAnswer,
  unversionedVerb,
  verb,
  writeErrors,
} from "../operation.js";
import { pageOf, PageQuery } from "../paging.js";
import { JobRef } from "./job.js";

const { minPerSecond, perSecond, concurrency } = backfillLimits;

export const JobBackfill = object(
  "JobBackfill",
  {
    from: InstantText("The first instant of the range"),
    to: Type.Optional(InstantText("The last instant of the range; now by default and at most")),
    dry_run: Flag("Only counts the occurrences"),
    per_second: Type.Optional(
      Type.Number({
        minimum: minPerSecond,
        maximum: perSecond,
        default: backfillDefaults.perSecond,
        description: "The largest number of runs created per second",
      }),
    ),
    concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: concurrency,
        default: backfillDefaults.concurrency,
        description: "The largest number of live runs of this backfill",
      }),
    ),
    repeat: Flag("Includes occurrences that already have a run"),
    force: Flag("Ignores the overlap policy of the job"),
  },
  {
    examples: [{ from: "2026-11-01T00:00:00Z", to: "2026-11-11T23:59:59Z", dry_run: true }],
    "x-carillon-rules": [
      {
        code: "backfill_invalid",
        rule: "The job has a cron or every schedule, and the range is not empty or too long",
      },
    ],
  },
);
export type JobBackfill = Static<typeof JobBackfill>;

const Total = Count("Occurrences in the range, by the rules that were in force then, including those that have a run");

export const BackfillCount = object("BackfillCount", {
  total: Total,
  dry_run: Type.Literal(true, { description: "Always true" }),
});
export type BackfillCount = Static<typeof BackfillCount>;

export const Backfill = object(
  "Backfill",
  {
    id: Type.String({ examples: ["bkf_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    job_id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    state: stringEnum(["running", "done", "aborted"], {
      description: "done: every occurrence is handled; the last runs may still be live",
    }),
    reason: nullable(Text("Why it was aborted")),
    from: Timestamp,
    to: Timestamp,
    total: Total,
    made: Count("Runs created"),
    passed: Count("Occurrences left out because they have a run"),
    skipped: Count("Occurrences left out by the overlap policy"),
    through: nullable(described(Timestamp, "Everything up to here is handled; null at the beginning")),
    per_second: Type.Number(),
    concurrency: Type.Integer(),
    repeat: Type.Boolean(),
    force: Type.Boolean(),
    actor: nullable(Text("Who requested it, where that is known")),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { description: "Creates runs for past occurrences of a job" },
);
export type Backfill = Static<typeof Backfill>;

export const BackfillList = pageOf("BackfillList", { backfills: Type.Array(Backfill) });
export type BackfillList = Static<typeof BackfillList>;

const BackfillRef = Type.Object({ id: IdText("bkf") });

export const backfillJob = {
  ...unversionedVerb("/v1/jobs/{id}:backfill"),
  tag: "Backfills",
  client: "jobs.backfill",
  summary: "Backfill a job",
  description:
    "Creates a run for each past occurrence in the range, with the definition and the calendars that were in force then, at " +
    "the given rate. Occurrences that have a run are left out unless repeat is set. The overlap policy applies unless force " +
    "is set. With dry_run it only counts the occurrences.",
  permission: "runs:write",
  rateClass: "bulk",
  params: JobRef,
  conditional: true,
  body: JobBackfill,
  answers: {
    200: { description: "The number of occurrences, for a dry run", schema: BackfillCount },
    202: {
      description: "The backfill, which continues in the background",
      schema: Backfill,
      headers: { Location: "The address of the resource" },
    },
  },
  errors: [...bodyErrors, "instant_invalid", "backfill_invalid", ...changeErrors],
} as const satisfies Operation;

const reads = { method: "GET", tag: "Backfills", permission: "runs:read", rateClass: "read" } as const;

export const listJobBackfills = {
  ...reads,
  path: "/v1/jobs/{id}/backfills",
  aliases: [{ path: "/jobs/{id}/backfills" }],
  client: "jobs.backfills",
  summary: "List the backfills of a job, newest first",
  params: JobRef,
  query: PageQuery,
  ...pageAnswer(BackfillList),
} as const satisfies Operation;

export const getBackfill = {
  ...reads,
  path: "/v1/backfills/{id}",
  client: "backfills.get",
  summary: "Get a backfill",
  params: BackfillRef,
  ...singleAnswer(Backfill, "The backfill as it is now"),
} as const satisfies Operation;

export const abortBackfill = {
  ...verb("/v1/backfills/{id}:abort"),
  tag: "Backfills",
  client: "backfills.abort",
  summary: "Abort a backfill",
  description:
    "It creates no more runs; those that it created continue. A backfill that has ended is returned unchanged.",
  permission: "runs:write",
  rateClass: "write",
  params: BackfillRef,
  ...singleAnswer(Backfill, "The backfill as it is now", writeErrors),
} as const satisfies Operation;

export type BackfillRequest = ReturnType<typeof readBackfill>["request"];

export function readBackfill(body: unknown, now: Instant) {
  return readBody(JobBackfill, body, (given, findings) => {
    const request = {
      from: readInstant(given.from, "/from", findings) ?? 0,
      to: readInstant(given.to, "/to", findings) ?? Math.floor(now),
      perSecond: given.per_second ?? backfillDefaults.perSecond,
      concurrency: given.concurrency ?? backfillDefaults.concurrency,
      repeats: given.repeat ?? false,
      force: given.force ?? false,
    };
    return { request, dryRun: given.dry_run ?? false };
  });
}
