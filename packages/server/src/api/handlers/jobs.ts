import { normaliseJobRequest } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import type { JobView } from "@carillon/engine";
import { type Handlers, traceOf } from "../call.js";
import type { ApiOptions } from "../ports.js";
import { noTracing } from "../tracing.js";
import { isOneOff, wireJob } from "../wire/job.js";
import { jobFilter, keysOf, refuseTotalOfStatus } from "./filters.js";
import { JobAnswers } from "./job-answer.js";
import { nextPageToken, orderOf, pageRequest } from "./list-page.js";
import { momentOf } from "./moment.js";

/** Null: it does not wait, or is no one-off job. */
async function whyOneOffWaits(engine: ApiOptions["engine"], namespace: string, job: JobView) {
  const { lastRun } = job;
  if (lastRun === null || !isOneOff(job) || lastRun.status === "running" || isFinal(lastRun.status)) return null;
  return engine.explain(namespace, lastRun);
}

type JobHandlers = Pick<Handlers, "createJob" | "listJobs" | "getJob">;

export function jobHandlers(options: ApiOptions): JobHandlers {
  const { engine, tracing = noTracing } = options;
  const answers = new JobAnswers(options);
  return {
    async createJob(call) {
      const { body, namespace, foreign, receipt } = call;
      const request = normaliseJobRequest(body, momentOf(options, namespace));
      const job = await tracing.enqueueTraced(traceOf(call), [request.spec], ([one = request.spec]) =>
        engine.createJob(namespace, one, receipt),
      );
      return answers.created(job, { namespace, foreign: foreign || request.hasLegacySpelling });
    },
    async listJobs({ query, namespace }) {
      const keys = keysOf(query);
      if (keys !== null) {
        const jobs = await engine.jobsOfKeys(namespace, keys);
        return { status: 200, body: { jobs: jobs.map(wireJob), next_page_token: null } };
      }
      const filter = jobFilter(query);
      const list = ["jobs", namespace, filter, ...orderOf(query)];
      if (query.total !== undefined) refuseTotalOfStatus(query);
      const page = await engine.listJobs(namespace, filter, pageRequest(query, list));
      const total = query.total === undefined ? undefined : await engine.totalJobs(namespace, filter, query.total);
      return {
        status: 200,
        body: {
          jobs: page.rows.map(wireJob),
          next_page_token: nextPageToken(page, list),
          ...(total !== undefined && { total: { ...total } }),
        },
      };
    },
    async getJob({ params, namespace, foreign }) {
      const job = await answers.found(namespace, params.id);
      const waitingOn = await whyOneOffWaits(engine, namespace, job);
      return answers.shown(job, { namespace, foreign, waitingOn });
    },
  };
}
