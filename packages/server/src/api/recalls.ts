import type { Operation } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { Effect, RunView } from "@carillon/engine";
import type { Call } from "./http/call.js";
import type { Recall, Recalls } from "./http/idempotency.js";
import type { ApiOptions } from "./http/handler.js";
import { wireBackfill } from "./wire/backfill.js";
import { awaitEnd, type AwaitCall, waitOf } from "./await-run.js";
import { recallJobs } from "./job-batch.js";
import { JobAnswers } from "./job-answers.js";
import { notFound } from "./references.js";
import { startedOperation } from "./operations.js";
import { createdRun, recallRuns } from "./run-create.js";
import { madeRun } from "./runs.js";

/** For each operation that makes something: its answer, from what it had made. */
export function recallsOf(options: ApiOptions): Recalls {
  const { engine } = options;
  const answers = new JobAnswers(options);
  const runOf = async ({ runs = [] }: Effect, namespace: string): Promise<RunView> => {
    const id = runs[0]?.id ?? "";
    const run = await engine.getRun(namespace, id);
    if (run === null) throw notFound(`The run ${formatId("run", id)} is not there any more.`);
    return run;
  };
  // Who waited for the end and lost the answer waits again.
  const ended = async (effect: Effect, call: Call<Operation>): Promise<RunView> => {
    const query = (call.query ?? {}) as AwaitCall["query"];
    return awaitEnd(engine, { ...call, query }, await runOf(effect, call.namespace), waitOf(query));
  };
  const oneRun: Recall = async (effect, call) => madeRun(await ended(effect, call));
  const newRun: Recall = async (effect, call) => createdRun(await ended(effect, call), true);
  return {
    createRun: newRun,
    retryRun: newRun,
    retryJob: newRun,
    createRuns: recallRuns(options),
    runJobNow: oneRun,
    replayRun: oneRun,
    async createJob({ jobs = [] }, { namespace, foreign }) {
      const id = formatId("job", jobs[0] ?? "");
      return answers.created(await answers.found(namespace, id), { namespace, foreign });
    },
    createJobs: recallJobs(options),
    async bulkRuns({ operation = "" }, { namespace }) {
      const view = await engine.getOperation(namespace, operation);
      if (view === null) throw notFound("The operation is not there any more.");
      return startedOperation(view);
    },
    async backfillJob({ backfill = "" }, { namespace }) {
      const view = await engine.getBackfill(namespace, backfill);
      if (view === null) throw notFound("The backfill is not there any more.");
      const body = wireBackfill(view);
      return { status: 202, body, headers: { Location: `/v1/backfills/${body.id}` } };
    },
  };
}
