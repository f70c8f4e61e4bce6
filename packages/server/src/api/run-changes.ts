import { readReschedule, readRunRepeat } from "@carillon/contract";
import { CarillonError, formatId } from "@carillon/core";
import type { RunView } from "@carillon/engine";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireRun } from "./run-wire.js";
import { wireAttempts, wireEvents, wireStats } from "./run-history.js";
import { JobAnswers } from "./job-answers.js";
import { keptContextOf } from "./job-changes.js";
import { idOrNotFound, jobRef, notFound } from "./references.js";
import { momentOf } from "./http/moment.js";
import { createdRun } from "./run-create.js";

type RunChangeHandlers = Pick<
  Handlers,
  "cancelRun" | "rescheduleRun" | "listRunAttempts" | "listRunEvents" | "getJobStats" | "retryJob"
>;

export function runChangeHandlers(options: ApiOptions): RunChangeHandlers {
  const { engine } = options;
  const answers = new JobAnswers(options);
  const found = async (namespace: string, text: string): Promise<RunView> => {
    const run = await engine.getRun(namespace, idOrNotFound("run", text));
    if (run === null) throw notFound(`There is no run ${text}.`);
    return run;
  };
  return {
    async cancelRun({ params, namespace }) {
      return { status: 200, body: wireRun(await engine.cancelRun(namespace, idOrNotFound("run", params.id))) };
    },
    async rescheduleRun({ params, namespace, body }) {
      const at = readReschedule(body, momentOf(options, namespace));
      return { status: 200, body: wireRun(await engine.rescheduleRun(namespace, idOrNotFound("run", params.id), at)) };
    },
    async listRunAttempts({ params, namespace }) {
      return { status: 200, body: { attempts: wireAttempts(await found(namespace, params.id)) } };
    },
    async listRunEvents({ params, namespace }) {
      const run = await found(namespace, params.id);
      return { status: 200, body: { events: wireEvents(run, await engine.redrivesOf(namespace, run.id)) } };
    },
    async getJobStats({ params, namespace }) {
      return { status: 200, body: wireStats(await engine.jobStats(namespace, jobRef(params.id))) };
    },
    async retryJob(call) {
      const { params, namespace } = call;
      const { lastRun } = await answers.found(namespace, params.id);
      if (lastRun === null) throw new CarillonError("run_not_failed", "The job has not run yet.");
      const { run, isNew } = await engine.retryRun(
        namespace,
        lastRun.id,
        readRunRepeat(call.body),
        keptContextOf(call),
      );
      const answer = createdRun(run, isNew);
      return isNew ? { ...answer, headers: { Location: `/v1/runs/${formatId("run", run.id)}` } } : answer;
    },
  };
}
