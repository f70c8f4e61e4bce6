import { type Instant, present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import { closed, Count, Flag, object, readPayload, stringEnum, WholeNumber } from "../fields.js";
import { bodyErrors, changeErrors, type Operation, unversionedVerb } from "../operation.js";
import { JobCreate } from "./job-create.js";
import { changesJob, etag, Job, JobRef, MissedChoice, theJob } from "./job.js";
import { pauseEnd, pauseFields, pauseRules } from "./pause.js";
import { runPolicy } from "./run-policy.js";
import { RunRepeat, RunRetried } from "./run-retry.js";
import { Run, RunWaitQuery } from "./run.js";

const { properties: field } = JobCreate;
const DryRun = Flag("Only returns what would happen");

export const JobPause = object(
  "JobPause",
  {
    ...pauseFields,
    missed: Type.Optional(MissedChoice),
  },
  { examples: [{ reason: "the mail provider is down", for: "2h" }], ...pauseRules },
);
export type JobPause = Static<typeof JobPause>;

export const JobResume = object(
  "JobResume",
  {
    missed: Type.Optional(
      stringEnum(["none", "latest", "all"], {
        description: "Which of the occurrences inside the pause fire; by default as the pause specified",
      }),
    ),
    dry_run: DryRun,
  },
  { examples: [{ missed: "latest" }] },
);
export type JobResume = Static<typeof JobResume>;

export const JobResumed = object("JobResumed", {
  job: Job,
  missed: Count("Occurrences inside the pause"),
  dry_run: Type.Boolean({ description: "Whether this was a dry run, which changes nothing" }),
});
export type JobResumed = Static<typeof JobResumed>;

const Running = stringEnum(["signal", "keep"], {
  description:
    "What happens to running runs: they are asked to stop (signal, the default) or continue (keep). Waiting runs are " +
    "cancelled",
});

const Dependants = stringEnum(["refuse", "detach"], {
  description:
    "If other jobs depend on this one: the call is refused (refuse, the default), or their dependency is removed (detach)",
});

const ending = { running: Type.Optional(Running), dependants: Type.Optional(Dependants) };

export const JobCancel = object("JobCancel", ending);
export type JobCancel = Static<typeof JobCancel>;

/** The same for DELETE, which has no body. */
export const JobDeleteQuery = closed(ending);
export type JobDeleteQuery = Static<typeof JobDeleteQuery>;

export const JobRunNow = object(
  "JobRunNow",
  {
    payload: Type.Optional(Type.Unknown({ description: "Replaces the payload of the job; null is a payload" })),
    priority: field.priority,
    queue: field.queue,
    labels: field.labels,
    retry: field.retry,
    timeout: field.timeout,
    deadline: field.deadline,
    force: Flag("Ignores the overlap policy of the job"),
  },
  {
    description: "The fields in which this run differs from its job",
    examples: [{ payload: { day: "2026-11-11" } }],
    "x-carillon-rules": [
      { code: "retry_invalid", rule: "max is not shorter than initial; a job with at_most_once has one attempt" },
      { code: "template_value_missing", rule: "The payload has a value for each placeholder of a key" },
      { code: "template_value_invalid", rule: "The values for placeholders are texts, numbers or booleans" },
    ],
  },
);
export type JobRunNow = Static<typeof JobRunNow>;

export const JobRollback = object(
  "JobRollback",
  { version: WholeNumber(1, 2_147_483_647, "One of the versions of the job") },
  { examples: [{ version: 3 }] },
);
export type JobRollback = Static<typeof JobRollback>;

export const deleteJob = {
  ...changesJob,
  method: "DELETE",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  client: "jobs.delete",
  summary: "Cancel a job",
  description: "The same as :cancel. The job no longer fires; GET still returns it.",
  query: JobDeleteQuery,
  answers: { 204: { description: "The job is cancelled" } },
  errors: [...bodyErrors, "job_has_dependants", ...changeErrors],
} as const satisfies Operation;

export const cancelJob = {
  ...changesJob,
  ...unversionedVerb("/v1/jobs/{id}:cancel"),
  client: "jobs.cancel",
  summary: "Cancel a job for good",
  description: "The job no longer fires, its waiting runs are cancelled, and its key becomes free.",
  body: JobCancel,
  bodyOptional: true,
  answers: { 200: theJob },
  errors: [...bodyErrors, "job_has_dependants", ...changeErrors],
} as const satisfies Operation;

export const pauseJob = {
  ...changesJob,
  ...unversionedVerb("/v1/jobs/{id}:pause"),
  client: "jobs.pause",
  summary: "Pause a job",
  description: "The job does not fire until it is resumed or the pause ends. Existing runs continue.",
  body: JobPause,
  bodyOptional: true,
  answers: { 200: theJob },
  errors: [...bodyErrors, "duration_invalid", "instant_invalid", ...changeErrors],
} as const satisfies Operation;

export const resumeJob = {
  ...changesJob,
  ...unversionedVerb("/v1/jobs/{id}:resume"),
  client: "jobs.resume",
  summary: "Resume a paused job",
  description:
    "Fires none, the latest or all of the occurrences that the pause held back, and returns their number. With dry_run it " +
    "only returns the number. A job that is not paused is returned unchanged.",
  body: JobResume,
  bodyOptional: true,
  answers: {
    200: {
      description: "The job, and the number of occurrences inside the pause",
      schema: JobResumed,
      headers: { ETag: etag },
    },
  },
  errors: [...bodyErrors, ...changeErrors],
} as const satisfies Operation;

export const rollbackJob = {
  ...changesJob,
  ...unversionedVerb("/v1/jobs/{id}:rollback"),
  client: "jobs.rollback",
  clientBody: "version",
  summary: "Roll back to an earlier definition",
  description: "The definition of that version becomes a new version.",
  body: JobRollback,
  answers: { 200: theJob },
  errors: [
    ...bodyErrors,
    "version_unknown",
    "calendar_unknown",
    "upstream_unknown",
    "dependency_cycle",
    "schedule_in_past",
    ...changeErrors,
  ],
} as const satisfies Operation;

const writes = { method: "POST", tag: "Jobs", permission: "runs:write", rateClass: "write", params: JobRef } as const;

export const runJobNow = {
  ...writes,
  ...unversionedVerb("/v1/jobs/{id}:runNow"),
  client: "jobs.runNow",
  summary: "Run a job now",
  description:
    "Creates a run that does not affect the schedule. A paused job runs, too. While another run of the job is live, the " +
    "overlap policy applies (skip refuses the call; queue_one and queue_all make the run wait), unless force is set.",
  conditional: true,
  query: RunWaitQuery,
  body: JobRunNow,
  waits: true,
  bodyOptional: true,
  answers: { 201: { description: "The run", schema: Run, headers: { Location: "The address of the run" } } },
  errors: [
    ...bodyErrors,
    "address_refused",
    "duration_invalid",
    "retry_invalid",
    "template_value_missing",
    "template_value_invalid",
    "overlap_refused",
    ...changeErrors,
  ],
} as const satisfies Operation;

export const retryJob = {
  ...writes,
  ...unversionedVerb("/v1/jobs/{id}:retry"),
  client: "jobs.retry",
  summary: "Retry the last run of a job",
  description: "The last run must have failed. Works like the retry of that run.",
  body: RunRepeat,
  bodyOptional: true,
  answers: {
    200: { description: "The run that an earlier call created", schema: RunRetried },
    201: { description: "The new run", schema: RunRetried, headers: { Location: "The address of the run" } },
  },
  errors: [
    ...bodyErrors,
    "address_refused",
    "overlap_refused",
    "run_live",
    "run_not_failed",
    "run_not_repeatable",
    ...changeErrors,
  ],
} as const satisfies Operation;

export type PauseRequest = ReturnType<typeof readPause>;

export function readPause(body: unknown, now: Instant) {
  return readBody(JobPause, body, (pause, findings) => ({
    reason: pause.reason ?? null,
    until: pauseEnd(pause, now, findings),
    missed: pause.missed ?? "none",
  }));
}

export type ResumeRequest = ReturnType<typeof readResume>;

export function readResume(body: unknown) {
  return readBody(JobResume, body, ({ missed, dry_run: dryRun = false }) => ({ ...present({ missed }), dryRun }));
}

export function readCancel(body: unknown) {
  return readBody(JobCancel, body, ({ running = "signal", dependants = "refuse" }) => ({ running, dependants }));
}

export function readRollback(body: unknown): number {
  return readBody(JobRollback, body, ({ version = 0 }) => version);
}

export type RunNowRequest = ReturnType<typeof readRunNow>;

/** A member that is left out is the job's. */
export function readRunNow(body: unknown) {
  return readBody(JobRunNow, body, (given, findings) => {
    const { priority, queue, labels, retry, timeout, deadline, force } = given;
    const policy = runPolicy(present({ retry, timeout, deadline }), findings);
    return {
      ...readPayload(given),
      ...present({ priority, queue, labels, force }),
      ...(Object.keys(policy).length > 0 && { policy }),
    };
  });
}
