import { Type } from "typebox";
import { RunRepeat, RunRetried } from "../schema/dead-letter.js";
import { JobStats, RunAttempts, RunEvents, RunReschedule } from "../schema/run-course.js";
import { Run } from "../schema/run.js";
import { JobRef, verbAliases } from "./job-address.js";
import { bodyErrors, changeErrors } from "./job-errors.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

const RunRef = Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) });

const runVerb = (verb: string) => [
  { path: `/v1/runs/{id}/${verb}` },
  { path: `/runs/{id}:${verb}` },
  { path: `/runs/{id}/${verb}` },
];

export const cancelRun = {
  method: "POST",
  path: "/v1/runs/{id}:cancel",
  aliases: runVerb("cancel"),
  tag: "Runs",
  summary: "Cancel a run",
  description: "One that waits ends; one that runs is asked to stop; one that has ended is answered as it is.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  answers: { 200: { description: "The run as it is now", schema: Run } },
  errors: [...bodyErrors, "not_found", ...storeErrors],
} as const satisfies Operation;

export const rescheduleRun = {
  method: "POST",
  path: "/v1/runs/{id}:reschedule",
  aliases: runVerb("reschedule"),
  tag: "Runs",
  summary: "Give a run another time",
  description: "Of runs that wait for their time, for their next try, or for a worker.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  body: RunReschedule,
  answers: { 200: { description: "The run as it is now", schema: Run } },
  errors: [
    ...bodyErrors,
    "not_found",
    "instant_invalid",
    "duration_invalid",
    "schedule_in_past",
    "run_not_waiting",
    ...storeErrors,
  ],
} as const satisfies Operation;

export const listRunAttempts = {
  method: "GET",
  path: "/v1/runs/{id}/attempts",
  aliases: [{ path: "/runs/{id}/attempts" }],
  tag: "Runs",
  summary: "List the tries of a run, oldest first",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "All of them, the one that runs included", schema: RunAttempts } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const listRunEvents = {
  method: "GET",
  path: "/v1/runs/{id}/events",
  aliases: [{ path: "/runs/{id}/events" }],
  tag: "Runs",
  summary: "Show what became of a run, step by step",
  permission: "runs:read",
  rateClass: "read",
  params: RunRef,
  answers: { 200: { description: "Oldest first", schema: RunEvents } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const getJobStats = {
  method: "GET",
  path: "/v1/jobs/{id}/stats",
  aliases: [{ path: "/jobs/{id}/stats" }],
  tag: "Jobs",
  summary: "Show how the last runs of a job went",
  permission: "runs:read",
  rateClass: "read",
  params: JobRef,
  answers: { 200: { description: "Counts, durations and lateness", schema: JobStats } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const retryJob = {
  method: "POST",
  path: "/v1/jobs/{id}:retry",
  aliases: [
    ...verbAliases("retry"),
    { path: "/task/{id}/retry", foreign: true },
    { path: "/v1/task/{id}/retry", foreign: true },
  ],
  tag: "Jobs",
  summary: "Retry the last run of a job, which failed",
  description: "As the retry of that run.",
  permission: "runs:write",
  rateClass: "write",
  params: JobRef,
  body: RunRepeat,
  bodyOptional: true,
  answers: {
    200: { description: "The run that had been made before", schema: RunRetried },
    201: { description: "The new run", schema: RunRetried, headers: { Location: "Where the run is" } },
  },
  errors: [...bodyErrors, "overlap_refused", "run_live", "run_not_failed", "run_not_repeatable", ...changeErrors],
} as const satisfies Operation;
