import type { JobChange, OnEngineEvent } from "../events.js";
import type { EngineApi } from "./engine-api.js";
import type { JobChanges } from "./job-changes.js";
import type { InNamespace } from "../context.js";

type Told = EngineApi & JobChanges;

/** The same calls; what they changed is told once it is durable. */
export function tellChanges<Api extends Told>(api: Api, within: InNamespace, onEvent: OnEngineEvent): Api {
  const tellJob = (namespace: string, jobId: string, change: JobChange): Promise<void> =>
    within(namespace, async (namespaceId) => onEvent({ type: "job.changed", namespaceId, jobId, change }));
  return { ...api, ...jobCalls(api, tellJob), ...jobVerbs(api, tellJob) };
}

type TellJob = (namespace: string, jobId: string, change: JobChange) => Promise<void>;

type JobCalls = Pick<Told, "createJob" | "createJobs" | "editJob" | "upsertJob">;

function jobCalls(api: Told, tell: TellJob): JobCalls {
  return {
    async createJob(namespace, ...how) {
      const job = await api.createJob(namespace, ...how);
      await tell(namespace, job.id, "created");
      return job;
    },
    async createJobs(namespace, ...how) {
      const made = await api.createJobs(namespace, ...how);
      for (const one of made) if ("id" in one) await tell(namespace, one.id, "created");
      return made;
    },
    async editJob(namespace, ref, edit, context) {
      const job = await api.editJob(namespace, ref, edit, context);
      await tell(namespace, job.id, "updated");
      return job;
    },
    async upsertJob(namespace, key, define, context) {
      const answer = await api.upsertJob(namespace, key, define, context);
      await tell(namespace, answer.job.id, answer.created ? "created" : "updated");
      return answer;
    },
  };
}

type JobVerbs = Pick<Told, "rollbackJob" | "pauseJob" | "resumeJob" | "cancelJob">;

function jobVerbs(api: Told, tell: TellJob): JobVerbs {
  return {
    async rollbackJob(namespace, ref, version, context) {
      const job = await api.rollbackJob(namespace, ref, version, context);
      await tell(namespace, job.id, "updated");
      return job;
    },
    async pauseJob(namespace, ref, request, context) {
      const job = await api.pauseJob(namespace, ref, request, context);
      await tell(namespace, job.id, "paused");
      return job;
    },
    async resumeJob(namespace, ref, request, context) {
      const resumed = await api.resumeJob(namespace, ref, request, context);
      await tell(namespace, resumed.job.id, "resumed");
      return resumed;
    },
    async cancelJob(namespace, ref, request, context) {
      const job = await api.cancelJob(namespace, ref, request, context);
      await tell(namespace, job.id, "cancelled");
      return job;
    },
  };
}
