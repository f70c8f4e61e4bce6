import { readRunNow } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { Handlers } from "../call.js";
import type { ApiOptions } from "../ports.js";
import { wireRun } from "../wire/run.js";
import { JobAnswers } from "./job-answer.js";
import { contextOf } from "./job-changes.js";
import { jobRef } from "./job-ref.js";
import { runPage } from "./runs.js";

export function jobRunHandlers(options: ApiOptions): Pick<Handlers, "listJobRuns" | "runJobNow"> {
  const { engine } = options;
  const answers = new JobAnswers(options);
  return {
    async listJobRuns({ params, query, namespace }) {
      const job = await answers.found(namespace, params.id);
      return runPage(engine, namespace, query, job.id);
    },
    async runJobNow(call) {
      const request = readRunNow(call.body);
      const run = await engine.runNow(call.namespace, jobRef(call.params.id), request, contextOf(call));
      return { status: 201, body: wireRun(run), headers: { Location: `/v1/runs/${formatId("run", run.id)}` } };
    },
  };
}
