import {
  hasLegacySpelling,
  normaliseJobRequest,
  type operations,
  readCancel,
  readJobPatch,
  readPause,
  readResume,
  readRollback,
  refuseOtherKey,
} from "@carillon/contract";
import { CarillonError, type Instant, type JobSpec } from "@carillon/core";
import type { ChangeContext } from "@carillon/engine";
import type { Call, CallAnswer, Handlers } from "../call.js";
import type { ApiOptions } from "../ports.js";
import { JobAnswers } from "./job-answer.js";
import { jobRef } from "./job-ref.js";
import { momentOf } from "./moment.js";

type ChangeHandlers = Pick<
  Handlers,
  "updateJob" | "putJob" | "deleteJob" | "cancelJob" | "pauseJob" | "resumeJob" | "rollbackJob"
>;

/** Bodies are read before anything is looked up: a wrong one is refused whatever it is about. */
export function jobChangeHandlers(options: ApiOptions): ChangeHandlers {
  const { engine, now } = options;
  const answers = new JobAnswers(options);
  return {
    async updateJob(call) {
      const edit = readJobPatch(call.body, options);
      const job = await engine.editJob(call.namespace, jobRef(call.params.id), edit, contextOf(call));
      return answers.shown(job, call);
    },
    putJob: (call) => put(options, answers, call),
    async deleteJob(call) {
      const { running = "signal", dependants = "refuse" } = call.query;
      await engine.cancelJob(call.namespace, jobRef(call.params.id), { running, dependants }, contextOf(call));
      return { status: 204 };
    },
    async cancelJob(call) {
      const request = readCancel(call.body);
      const job = await engine.cancelJob(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return answers.shown(job, call);
    },
    async pauseJob(call) {
      const request = readPause(call.body, now());
      const job = await engine.pauseJob(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return answers.shown(job, call);
    },
    resumeJob: (call) => resume(options, answers, call),
    async rollbackJob(call) {
      const version = readRollback(call.body);
      const job = await engine.rollbackJob(call.namespace, jobRef(call.params.id), version, contextOf(call));
      return answers.shown(job, call);
    },
  };
}

type PutCall = Call<(typeof operations)["putJob"]>;
type ResumeCall = Call<(typeof operations)["resumeJob"]>;

/** By its key a job is created or replaced; by its id it must exist. */
async function put(options: ApiOptions, answers: JobAnswers, call: PutCall): Promise<CallAnswer> {
  const { body, namespace } = call;
  const { engine } = options;
  const ref = jobRef(call.params.id);
  const define = (current: JobSpec | null, now: Instant): JobSpec => {
    const moment = { ...momentOf(options, namespace), now, ...(current && { current }) };
    const { spec } = normaliseJobRequest(body, moment);
    const key = "key" in ref ? ref.key : current?.key;
    refuseOtherKey(spec.key, key);
    return { ...spec, ...(key !== undefined && { key }) };
  };
  const asker = { namespace, foreign: hasLegacySpelling(body) };
  if ("id" in ref) return answers.shown(await engine.editJob(namespace, ref, define, contextOf(call)), asker);
  const { job, created } = await engine.upsertJob(namespace, ref.key, define, contextOf(call));
  return created ? answers.created(job, asker) : answers.shown(job, asker);
}

async function resume({ engine }: ApiOptions, answers: JobAnswers, call: ResumeCall): Promise<CallAnswer> {
  const { dryRun, ...request } = readResume(call.body);
  const { namespace, params, ifVersion } = call;
  const ref = jobRef(params.id);
  const { job, missed } = dryRun
    ? { job: await answers.found(namespace, params.id), missed: await engine.countMissed(namespace, ref) }
    : await engine.resumeJob(namespace, ref, request, contextOf(call));
  if (dryRun && ifVersion !== undefined && job.version !== ifVersion) {
    throw new CarillonError("precondition_failed", `The job has version ${job.version}, not ${ifVersion}.`);
  }
  const { body, ...answer } = await answers.shown(job, call);
  return { ...answer, body: { job: body, missed, dry_run: dryRun } };
}

/** The same, where the call makes one thing that its receipt names. */
export function keptContextOf(call: Pick<PutCall, "actor" | "ifVersion" | "receipt" | "trace">): ChangeContext {
  const { receipt } = call;
  return { ...contextOf(call), ...(receipt !== undefined && { receipt }) };
}

/** On whose behalf and on what condition a call changes something. */
export function contextOf({ actor, ifVersion, trace }: Pick<PutCall, "actor" | "ifVersion" | "trace">): ChangeContext {
  return { actor, ...(ifVersion !== undefined && { ifVersion }), ...(trace !== undefined && { trace }) };
}
