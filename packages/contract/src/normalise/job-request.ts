import { type DurationMs, type Instant, type JobSpec, ownFiring } from "@carillon/core";
import { checkValue, isObject } from "../check/check-value.js";
import { Findings } from "../check/findings.js";
import { checkJsonValue } from "../check/json-value.js";
import { foreignFieldNames, JobCreate } from "../schema/job-create.js";
import { addPayloadFaults, type CheckPayload } from "./check-payload.js";
import type { RefuseTarget } from "./end-callback.js";
import { firingOf } from "./firing-policy.js";
import { explainJobField } from "./job-field-hints.js";
import { ownSpelling } from "./own-spelling.js";
import { runLimits } from "./run-limits.js";
import { runPolicy } from "./run-policy.js";
import { scheduleSpec } from "./schedule-spec.js";
import { type DefaultsOf, withDefaults } from "./task-defaults.js";

export interface JobRequest {
  readonly spec: JobSpec;
  /** The caller used another system's names: the answer then also carries them. */
  readonly foreign: boolean;
}

export interface Moment {
  readonly now: Instant;
  /** An instant that lies further back than this is refused. */
  readonly catchupWindowMs?: DurationMs;
  /** The definition that the request takes the place of: what it does not say anew goes on, such as an interval's anchor. */
  readonly current?: JobSpec;
  /** The payload that the job is to have, where the request does not carry it. */
  readonly payload?: { readonly value: unknown };
  /** Knows payloads of some tasks. */
  readonly checkPayload?: CheckPayload;
  /** Knows addresses that no callback may have; none is refused when left out. */
  readonly refuseTarget?: RefuseTarget;
  /** What is taken where the request leaves it out; nothing when left out, as for a change of a job. */
  readonly defaultsOf?: DefaultsOf;
}

const defaultCatchupWindowMs: DurationMs = 86_400_000;
export const defaultQueue = "default";
export const defaultPriority = 4;

/**
 * Turns the body of a request, in our spelling or another one, into a job. `now` is the scheduler's clock: delays count
 * from it. Throws one CarillonError that names every fault.
 */
export function normaliseJobRequest(body: unknown, moment: Moment): JobRequest {
  const findings = new Findings();
  const sound = checkedBody(body, findings);
  return findings.judge(() => judged(body, sound, moment, findings));
}

function judged(body: unknown, given: JobCreate, moment: Moment, findings: Findings): JobRequest {
  const sound = withDefaults(given, moment.defaultsOf?.(given.task ?? given.job_type ?? ""), findings);
  const own = ownSpelling(sound, findings);
  if (isObject(body) && !("task" in body || "job_type" in body)) {
    findings.add("/task", "field_missing", 'task is required: the name of what a worker runs, such as "echo"');
  }
  const { now, current, catchupWindowMs = defaultCatchupWindowMs } = moment;
  const said = firingOf(sound, findings);
  const schedule = scheduleSpec(own.schedule, {
    now,
    findings,
    catchupWindowMs: said.catchupWindowMs ?? catchupWindowMs,
    anyAge: said.misfire === "run_once",
    ...(current && { current: current.schedule }),
  });
  // Who is asked for by hand, or by others, may bring a payload of its own: what its keys need is looked for then.
  const isAsked = schedule?.kind === "manual" || schedule?.kind === "after";
  const payload = isAsked ? null : (moment.payload ?? { value: sound.payload ?? null });
  const policy = {
    ...runPolicy(own, sound, findings, moment.refuseTarget),
    ...runLimits(sound, payload, findings),
  };
  if (payload !== null && own.task !== undefined)
    addPayloadFaults(moment.checkPayload, own.task.value, payload.value, findings);
  findings.raise();
  if (own.task === undefined || schedule === undefined) throw new Error("a fault of the request was not recorded");
  const firing = schedule.kind === "at" ? said : ownFiring(said);
  const spec: JobSpec = {
    ...(sound.key !== undefined && { key: sound.key }),
    task: own.task.value,
    queue: sound.queue ?? defaultQueue,
    priority: sound.priority ?? defaultPriority,
    payload: sound.payload ?? null,
    schedule,
    policy,
    ...(Object.keys(firing).length > 0 && { firing }),
    labels: sound.labels ?? {},
    ...(own.owner && { owner: own.owner.value }),
  };
  return { spec, foreign: isForeignRequest(body) };
}

/** Whether the caller used another system's names. */
export function isForeignRequest(body: unknown): boolean {
  return isObject(body) && foreignFieldNames.some((name) => name in body);
}

function checkedBody(body: unknown, findings: Findings): JobCreate {
  if (!isObject(body)) {
    findings.add("", "field_invalid", 'the body must be a JSON object such as {"task": "echo", "payload": {}}');
  }
  if (!checkJsonValue(body, findings)) findings.raise();
  const explainUnknown = explainJobField(findings);
  return checkValue(JobCreate, isObject(body) ? body : {}, { findings, explainUnknown }) ?? {};
}
