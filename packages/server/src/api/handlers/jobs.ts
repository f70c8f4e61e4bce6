import { normaliseJobRequest } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { JobView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "../call.js";
import type { ApiOptions } from "../ports.js";
import { type Reader, wireJob, wireOneJob } from "../wire/job.js";
import { jobFilter } from "./filters.js";
import { jobRef, notFound } from "./job-ref.js";
import { nextPageToken, pageRequest } from "./list-page.js";
import { runPage } from "./runs.js";

type JobHandlers = Pick<Handlers, "createJob" | "listJobs" | "getJob" | "listJobRuns">;

export function jobHandlers({ engine, now, catchupWindowMs }: ApiOptions): JobHandlers {
  const found = async (namespace: string, id: string): Promise<JobView> => {
    const job = await engine.getJob(namespace, jobRef(id));
    if (job === null) throw notFound(`There is no job ${id}.`);
    return job;
  };
  return {
    async createJob({ body, namespace, foreign }) {
      const request = normaliseJobRequest(body, {
        now: now(),
        ...(catchupWindowMs !== undefined && { catchupWindowMs }),
      });
      const job = await engine.createJob(namespace, request.spec);
      const answer = jobAnswer(job, { now: now(), foreign: foreign || request.foreign });
      const location = `/v1/jobs/${formatId("job", job.id)}`;
      return { ...answer, status: 201, headers: { ...answer.headers, Location: location } };
    },
    async listJobs({ query, namespace }) {
      const filter = jobFilter(query);
      const list = ["jobs", namespace, filter];
      const page = await engine.listJobs(namespace, filter, pageRequest(query, list));
      return { status: 200, body: { jobs: page.rows.map(wireJob), next_page_token: nextPageToken(page, list) } };
    },
    async getJob({ params, namespace, foreign }) {
      return jobAnswer(await found(namespace, params.id), { now: now(), foreign });
    },
    async listJobRuns({ params, query, namespace }) {
      const job = await found(namespace, params.id);
      return runPage(engine, namespace, query, job.id);
    },
  };
}

function jobAnswer(job: JobView, reader: Reader): CallAnswer {
  return { status: 200, body: wireOneJob(job, reader), headers: { ETag: `"v${job.version}"` } };
}
