import { CarillonError, type Instant, type JobSpec } from "@carillon/core";
import { checkValue, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/json-value.js";
import { foreignFieldNames } from "../schema/job-create.js";
import { JobPatch } from "../schema/job-patch.js";
import type { ScheduleRequest } from "../schema/schedule.js";
import { explainJobField } from "./job-field-hints.js";
import { type Moment, normaliseJobRequest } from "./job-request.js";
import { mergePatch } from "./merge-patch.js";
import { requestOfJob } from "./request-of-job.js";
import { isCompanion, scheduleKinds } from "./schedule-kinds.js";

/** What a patch makes of a definition. Pure; throws one CarillonError that names every fault. */
export type ApplyJobPatch = (current: JobSpec, now: Instant) => JobSpec;

/** Who judges what a patch says anew. */
export type PatchJudges = Pick<Moment, "checkPayload" | "refuseTarget">;

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
    if (parent !== "" || !foreignFieldNames.includes(name)) return explain(pointer, parent, name);
    findings.add(
      pointer,
      "unknown_field",
      `${name} is taken when a job is created; a change is written in the names of the answer`,
    );
    return true;
  };
}
