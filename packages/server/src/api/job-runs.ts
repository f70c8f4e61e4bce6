import { readRunNow } from "@carillon/contract";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { awaitEnd, waitOf } from "./await-run.js";
import { JobAnswers } from "./job-answers.js";
import { keptContextOf } from "./job-changes.js";
import { jobRef } from "./references.js";
import { madeRun, runPage } from "./runs.js";

export function jobRunHandlers(options: ApiOptions): Pick<Handlers, "listJobRuns" | "runJobNow"> {
  const { engine } = options;
  const answers = new JobAnswers(options);
  return {
    async listJobRuns({ params, query, namespace }) {
      const job = await answers.found(namespace, params.id);
      return runPage(engine, namespace, query, job.id);
    },
    async runJobNow(call) {
      const waitMs = waitOf(call.query);
      const request = readRunNow(call.body);
      const run = await engine.runNow(call.namespace, jobRef(call.params.id), request, keptContextOf(call));
      return madeRun(await awaitEnd(engine, call, run, waitMs));
    },
  };
}
