import { CarillonError, type Instant, type JobSpec } from "@carillon/core";
import { type Static, Type } from "typebox";
import { checkValue, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/json-value.js";
import { mergePatch, mergePatchOf, removable } from "../merge-patch.js";
import { changeErrors, definitionErrors, type Operation } from "../operation.js";
import type { BreakerRequest } from "./breaker.js";
import { explainJobField, legacyFieldNames, JobCreate, normaliseJobRequest } from "./job-create.js";
import { requestOfJob } from "./job-definition.js";
import { isCompanion, scheduleKinds, type ScheduleRequest } from "./job-schedule.js";
import { etag, Job, JobRef } from "./job.js";
import type { RequestContext } from "./request-context.js";
import type { Concurrency, RateLimit } from "./run-limits.js";
import type { RetryRequest, Sla } from "./run-policy.js";
import { object } from "../fields.js";

const { properties: field } = JobCreate;

/** In our own spelling only: what is changed was answered in it. */
export const JobPatch = object(
  "JobPatch",
  {
    task: Type.Optional(Type.Unsafe<string>({ ...field.task })),
    payload: Type.Optional(Type.Unknown({ description: "Replaced whole, never merged; null is a payload" })),
    schedule: Type.Optional(
      Type.Unsafe<Static<ReturnType<typeof mergePatchOf<ScheduleRequest>>>>({
        ...mergePatchOf<ScheduleRequest>(field.schedule),
        description: "Merged. Another kind (cron, every, at …) takes the place of the present one",
      }),
    ),
    key: Type.Optional(Type.String({ description: "Cannot be changed: only the present one is taken" })),
    retry: Type.Optional(removable<RetryRequest>(field.retry)),
    timeout: Type.Optional(removable<string>(field.timeout)),
    deadline: Type.Optional(removable<string>(field.deadline)),
    sla: Type.Optional(removable<Sla>(field.sla)),
    guarantee: Type.Optional(removable<Static<typeof field.guarantee>>(field.guarantee)),
    callbacks: Type.Optional(removable<Static<typeof field.callbacks>>(field.callbacks)),
    requires: Type.Optional(removable<Record<string, string>>(field.requires)),
    concurrency: Type.Optional(removable<Concurrency>(field.concurrency)),
    rate_limit: Type.Optional(removable<RateLimit>(field.rate_limit)),
    ordering_key: Type.Optional(removable<string>(field.ordering_key)),
    ordering_on_failure: Type.Optional(removable<Static<typeof field.ordering_on_failure>>(field.ordering_on_failure)),
    task_version: Type.Optional(removable<string>(field.task_version)),
    allow_spot: Type.Optional(removable<boolean>(field.allow_spot)),
    breaker: Type.Optional(removable<BreakerRequest>(field.breaker)),
    priority: Type.Optional(removable<number>(field.priority)),
    queue: Type.Optional(removable<string>(field.queue)),
    overlap: Type.Optional(removable<Static<typeof field.overlap>>(field.overlap)),
    misfire: Type.Optional(removable<Static<typeof field.misfire>>(field.misfire)),
    misfire_threshold: Type.Optional(removable<string>(field.misfire_threshold)),
    catchup_window: Type.Optional(removable<string>(field.catchup_window)),
    catchup_limit: Type.Optional(removable<number>(field.catchup_limit)),
    catchup_rate: Type.Optional(removable<number>(field.catchup_rate)),
    labels: Type.Optional(removable<Record<string, string>>(field.labels)),
    searchable: Type.Optional(removable<string[]>(field.searchable)),
    owner: Type.Optional(removable<string>(field.owner)),
  },
  {
    description: "A merge patch (RFC 7396): what is left out stays, null removes, lists are replaced",
    examples: [{ schedule: { cron: "0 6 * * *" }, labels: { team: null } }],
  },
);
export type JobPatch = Static<typeof JobPatch>;

const changing = {
  tag: "Jobs",
  permission: "jobs:write",
  rateClass: "write",
  params: JobRef,
  conditional: true,
} as const;

const theJob = { description: "The job as it is now", schema: Job, headers: { ETag: etag } };

export const putJob = {
  ...changing,
  method: "PUT",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  client: "jobs.put",
  summary: "Create or replace a job by its key",
  description:
    "Addressed as /v1/jobs/@{key}: creates the job or replaces its definition, so that the same call can be sent again. By its id " +
    "an existing job is replaced. Without a schedule a job that exists keeps the one instant that it has.",
  body: JobCreate,
  answers: {
    200: theJob,
    201: { description: "The new job", schema: Job, headers: { Location: "Where the job is", ETag: etag } },
  },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

export const updateJob = {
  ...changing,
  method: "PATCH",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}" }],
  client: "jobs.update",
  summary: "Change parts of a job",
  description:
    "A merge patch. What is due by then fires under the definition before; the new one counts from now on. A patch that changes " +
    "nothing makes no new version.",
  body: JobPatch,
  answers: { 200: theJob },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

/** What a patch makes of a definition. Pure; throws one CarillonError that names every fault. */
export type ApplyJobPatch = (current: JobSpec, now: Instant) => JobSpec;

/** Who judges what a patch says anew. */
type PatchJudges = Pick<RequestContext, "checkPayload" | "refuseTarget">;

/** Checks the patch by itself; what it says together with the job is checked when it is applied. */
export function readJobPatch(body: unknown, judges: PatchJudges = {}): ApplyJobPatch {
  const findings = new Findings();
  if (!isObject(body)) {
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"priority": 7}');
  }
  if (!checkJsonValue(body, findings)) findings.raise();
  const explainUnknown = explainPatchField(findings);
  const patch = checkValue(JobPatch, isObject(body) ? body : {}, { findings, explainUnknown }) ?? {};
  findings.raise();
  return (current, now) => applied(patch, current, now, judges);
}

function applied(patch: JobPatch, current: JobSpec, now: Instant, judges: PatchJudges): JobSpec {
  refuseOtherKey(patch.key, current.key);
  const before = requestOfJob(current);
  const { payload, schedule, key: _, ...rest } = patch;
  const merged = {
    ...(mergePatch(before, rest) as object),
    schedule: mergePatch(withoutRivals(before.schedule ?? {}, schedule ?? {}), schedule ?? {}),
    payload: null,
  };
  const value = Object.hasOwn(patch, "payload") ? payload : current.payload;
  const moment = { now, current, payload: { value }, ...judgesOf(patch, judges) };
  const { spec } = normaliseJobRequest(merged, moment);
  // Checked already, now or when it came: a payload that somebody stored is not this caller's fault.
  return { ...spec, payload: value };
}

/** What was stored before is not judged again: it is not this caller's fault. */
function judgesOf(patch: JobPatch, { checkPayload, refuseTarget }: PatchJudges): PatchJudges {
  return {
    ...(checkPayload !== undefined && ("payload" in patch || "task" in patch) && { checkPayload }),
    ...(refuseTarget !== undefined && "callbacks" in patch && { refuseTarget }),
  };
}

/** A key is how others find the job: to change it is to make another job. */
export function refuseOtherKey(given: string | undefined, present: string | undefined): void {
  if (given === undefined || given === present) return;
  const own = present === undefined ? "the job has none" : `it is ${JSON.stringify(present)}`;
  const detail = `the key of a job cannot be changed: ${own}`;
  throw new CarillonError("field_invalid", `/key: ${detail}`, {
    items: [{ pointer: "/key", code: "field_invalid", detail }],
  });
}

/** A patch that names another kind of schedule means it instead of the present one, and what only goes with that falls away. */
function withoutRivals(before: ScheduleRequest, patch: Partial<Record<string, unknown>>): object {
  const kind = scheduleKinds.find((name) => (patch[name] ?? null) !== null);
  if (kind === undefined || kind in before) return before;
  return Object.fromEntries(Object.entries(before).filter(([name]) => isCompanion(kind, name)));
}

function explainPatchField(findings: Findings): ReturnType<typeof explainJobField> {
  const explain = explainJobField(findings);
  return (pointer, parent, name) => {
    if (parent !== "" || !legacyFieldNames.includes(name)) return explain(pointer, parent, name);
    findings.add(
      pointer,
      "unknown_field",
      `${name} is taken when a job is created; a change is written in the names of the answer`,
    );
    return true;
  };
}
