import { CarillonError, type Instant, type JobSpec } from "@carillon/core";
import { type Static, Type } from "typebox";
import { Findings } from "../check/findings.js";
import { soundBody } from "../check/read-body.js";
import { keyPattern } from "../bounds.js";
import { described, object } from "../fields.js";
import { mergePatch, mergePatchOf, removableFields } from "../merge-patch.js";
import { changeErrors, definitionErrors, type Operation } from "../operation.js";
import { translateBody } from "../spellings/translate.js";
import { explainJobField, JobCreate, jobFields, readJob } from "./job-create.js";
import { requestOfJob } from "./job-definition.js";
import { isCompanion, scheduleKinds, ScheduleRequest } from "./job-schedule.js";
import { changesJob, etag, Job, theJob } from "./job.js";
import type { RequestContext } from "./request-context.js";
import { policyRules, runFields } from "./run-policy.js";

const { task: _task, payload: _payload, schedule: _schedule, key: _key, ...others } = jobFields;
const schedulePatch = mergePatchOf(ScheduleRequest);

export const JobPatch = object(
  "JobPatch",
  {
    task: Type.Optional(runFields.task),
    payload: Type.Optional(Type.Unknown({ description: "Replaced as a whole, never merged; null is a payload" })),
    schedule: Type.Optional(
      described(schedulePatch, "Merged. Another kind (cron, every, at …) replaces the present one"),
    ),
    key: Type.Optional(
      Type.String({ pattern: keyPattern, description: "Cannot be changed: only the present key is accepted" }),
    ),
    ...removableFields(others),
  },
  {
    description: "A merge patch (RFC 7396): members that are left out stay, null removes a member, lists are replaced",
    examples: [{ schedule: { cron: "0 6 * * *" }, labels: { team: null } }],
    "x-carillon-rules": [
      { code: "field_invalid", rule: "key is the present key" },
      { code: "field_missing", rule: "The changed job fits JobCreate: a part that is new has its required members" },
      {
        code: "schedule_invalid",
        rule: "The changed schedule fits ScheduleRequest: one kind, and the fields that go with it",
      },
      { code: "retry_invalid", rule: "The changed retry policy fits RetryRequest and the guarantee" },
      ...policyRules.rules,
    ],
  },
);
export type JobPatch = Static<typeof JobPatch>;

export const putJob = {
  ...changesJob,
  method: "PUT",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}", legacySpelling: true }],
  client: "jobs.put",
  summary: "Create or replace a job by its key",
  rules: [{ code: "field_invalid", rule: "key is the key in the address, or the key of the job" }],
  description:
    "With /v1/jobs/@{key}, creates the job or replaces its definition, so that the same call can be repeated. With an id, " +
    "replaces an existing job. Without a schedule, an existing one-off job keeps its instant.",
  body: JobCreate,
  answers: {
    200: theJob,
    201: { description: "The new job", schema: Job, headers: { Location: "The address of the job", ETag: etag } },
  },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

export const updateJob = {
  ...changesJob,
  method: "PATCH",
  path: "/v1/jobs/{id}",
  aliases: [{ path: "/jobs/{id}", legacySpelling: true }],
  client: "jobs.update",
  summary: "Change parts of a job",
  description:
    "Applies a merge patch. Fires that are already due use the previous definition; later ones use the new one. A patch " +
    "that changes nothing makes no new version.",
  body: JobPatch,
  answers: { 200: theJob },
  errors: [...definitionErrors, ...changeErrors],
} as const satisfies Operation;

/** Returns the patched definition. Pure; throws one CarillonError that names every fault. */
export type ApplyJobPatch = (current: JobSpec, now: Instant) => JobSpec;

/** The checks of what a patch changes. */
type PatchChecks = Pick<RequestContext, "checkPayload" | "refuseTarget">;

/** Checks the patch by itself. The patched definition is checked when the patch is applied. */
export function readJobPatch(body: unknown, checks: PatchChecks = {}): ApplyJobPatch {
  const findings = new Findings();
  const check = { findings, explainUnknown: explainJobField(findings), example: '{"priority": 7}' };
  const patch = soundBody(JobPatch, translateBody(body, "job", findings), check);
  findings.raise();
  return (current, now) => applied(patch, current, { ...checks, now }, findings);
}

interface ApplyContext extends PatchChecks {
  readonly now: Instant;
}

/** `findings` know where the caller wrote the fields of the patch. */
function applied(patch: JobPatch, current: JobSpec, { now, ...checks }: ApplyContext, findings: Findings): JobSpec {
  refuseOtherKey(patch.key, current.key);
  const before = requestOfJob(current);
  const { payload, schedule, key: _, ...rest } = patch;
  const merged = {
    ...(mergePatch(before, rest) as object),
    schedule: mergePatch(withoutOtherKinds(before.schedule ?? {}, schedule ?? {}), schedule ?? {}),
    payload: null,
  };
  const value = Object.hasOwn(patch, "payload") ? payload : current.payload;
  const context = { now, current, payload: { value }, ...checksOf(patch, checks) };
  // The payload was checked already, now or when it was stored: an old one is not this caller's fault.
  return { ...readJob(merged, context, findings.emptied()), payload: value };
}

/** Stored fields are not checked again: their faults are not this caller's. */
function checksOf(patch: JobPatch, { checkPayload, refuseTarget }: PatchChecks): PatchChecks {
  return {
    ...(checkPayload !== undefined && ("payload" in patch || "task" in patch) && { checkPayload }),
    ...(refuseTarget !== undefined && "callbacks" in patch && { refuseTarget }),
  };
}

/** Callers find the job by its key, so a changed key would make another job. */
export function refuseOtherKey(given: string | undefined, present: string | undefined): void {
  if (given === undefined || given === present) return;
  const own = present === undefined ? "This job has none" : `This job has ${JSON.stringify(present)}`;
  const detail = `The key of a job cannot be changed. ${own}.`;
  throw new CarillonError("field_invalid", `/key: ${detail}`, {
    items: [{ pointer: "/key", code: "field_invalid", detail }],
  });
}

/** A patch with another kind of schedule replaces the present kind, together with the fields that only go with that. */
function withoutOtherKinds(before: ScheduleRequest, patch: Partial<Record<string, unknown>>): object {
  const kind = scheduleKinds.find((name) => (patch[name] ?? null) !== null);
  if (kind === undefined || kind in before) return before;
  return Object.fromEntries(Object.entries(before).filter(([name]) => isCompanion(kind, name)));
}
