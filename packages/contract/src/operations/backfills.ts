import { Type } from "typebox";
import { Backfill, BackfillCount, BackfillList, JobBackfill } from "../schema/backfill.js";
import { PageQuery } from "../schema/job-history.js";
import { JobRef, verbAliases } from "./job-address.js";
import { bodyErrors, changeErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const BackfillRef = Type.Object({ id: Type.String({ examples: ["bkf_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

export const backfillJob = {
  method: "POST",
  path: "/v1/jobs/{id}:backfill",
  aliases: verbAliases("backfill"),
  tag: "Backfills",
  summary: "Run a job for times of the past",
  description:
    "Makes a run for each occurrence of the range, from the definition and by the calendars that were in force then, at the given " +
    "rate. Occurrences that have a run are left out unless repeat is said. The overlap policy is followed unless force is said. With " +
    "dry_run it only says how many occurrences there are.",
  permission: "runs:write",
  rateClass: "bulk",
  params: JobRef,
  conditional: true,
  body: JobBackfill,
  answers: {
    200: { description: "How many occurrences the range has, for a dry run", schema: BackfillCount },
    202: { description: "The backfill; it goes on by itself", schema: Backfill, headers: { Location: "Where it is" } },
  },
  errors: [...bodyErrors, "instant_invalid", "backfill_invalid", ...changeErrors],
} as const satisfies Operation;

export const listJobBackfills = {
  method: "GET",
  path: "/v1/jobs/{id}/backfills",
  aliases: [{ path: "/jobs/{id}/backfills" }],
  tag: "Backfills",
  summary: "List the backfills of a job, newest first",
  permission: "runs:read",
  rateClass: "read",
  params: JobRef,
  query: PageQuery,
  answers: { 200: { description: "One page", schema: BackfillList } },
  errors: ["not_found", ...queryErrors, "page_token_invalid", ...storeErrors],
} as const satisfies Operation;

export const getBackfill = {
  method: "GET",
  path: "/v1/backfills/{id}",
  tag: "Backfills",
  summary: "Show how far a backfill is",
  permission: "runs:read",
  rateClass: "read",
  params: BackfillRef,
  answers: { 200: { description: "The backfill as it is now", schema: Backfill } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const abortBackfill = {
  method: "POST",
  path: "/v1/backfills/{id}:abort",
  aliases: [{ path: "/v1/backfills/{id}/abort" }],
  tag: "Backfills",
  summary: "Make no more runs of a backfill",
  description: "Runs that it has made go on. One that has ended is answered as it is.",
  permission: "runs:write",
  rateClass: "write",
  params: BackfillRef,
  answers: { 200: { description: "The backfill as it is now", schema: Backfill } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;
