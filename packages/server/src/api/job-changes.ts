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
import { type Instant, type JobSpec } from "@carillon/core";
import { type ApiOptions, type ApiResponse, type Call, contextOf, handlers, momentOf } from "./http/handler.js";
import { JobResponses } from "./job-responses.js";
import { jobRef } from "./references.js";

/** Bodies are validated before the job is read: a wrong one is refused even if the job does not exist. */
export function jobChangeHandlers(options: ApiOptions) {
  const { engine, now } = options;
  const responses = new JobResponses(options);
  return handlers({
    async updateJob(call) {
      const edit = readJobPatch(call.body, options);
      const job = await engine.jobs.edit(call.namespace, jobRef(call.params.id), edit, contextOf(call));
      return responses.shown(job, call);
    },
    putJob: (call) => put(options, responses, call),
    async deleteJob(call) {
      const { running = "signal", dependants = "refuse" } = call.query;
      await engine.jobs.cancel(call.namespace, jobRef(call.params.id), { running, dependants }, contextOf(call));
      return { status: 204 };
    },
    async cancelJob(call) {
      const request = readCancel(call.body);
      const job = await engine.jobs.cancel(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return responses.shown(job, call);
    },
    async pauseJob(call) {
      const request = readPause(call.body, now());
      const job = await engine.jobs.pause(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return responses.shown(job, call);
    },
    resumeJob: (call) => resume(options, responses, call),
    async rollbackJob(call) {
      const version = readRollback(call.body);
      const job = await engine.jobs.rollback(call.namespace, jobRef(call.params.id), version, contextOf(call));
      return responses.shown(job, call);
    },
  });
}

type PutCall = Call<(typeof operations)["putJob"]>;
type ResumeCall = Call<(typeof operations)["resumeJob"]>;

/** A job named by its key is created or replaced; one named by its id must exist. */
async function put(options: ApiOptions, responses: JobResponses, call: PutCall): Promise<ApiResponse> {
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
  const shownTo = { namespace, legacySpelling: hasLegacySpelling(body) };
  if ("id" in ref) return responses.shown(await engine.jobs.edit(namespace, ref, define, contextOf(call)), shownTo);
  const { job, created } = await engine.jobs.upsert(namespace, ref.key, define, contextOf(call));
  return created ? responses.created(job, shownTo) : responses.shown(job, shownTo);
}

async function resume({ engine }: ApiOptions, responses: JobResponses, call: ResumeCall): Promise<ApiResponse> {
  const { dryRun, ...request } = readResume(call.body);
  const { namespace, params, ifVersion } = call;
  const ref = jobRef(params.id);
  const { job, missed } = dryRun
    ? {
        job: await responses.find(namespace, params.id, ifVersion),
        missed: await engine.jobs.countMissed(namespace, ref),
      }
    : await engine.jobs.resume(namespace, ref, request, contextOf(call));
  const { body, ...response } = await responses.shown(job, call);
  return { ...response, body: { job: body, missed, dry_run: dryRun } };
}
