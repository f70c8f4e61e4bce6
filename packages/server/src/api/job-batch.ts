import { type BatchResult, normaliseJobRequest, readJobBatch, type Operation } from "@carillon/contract";
import { formatId, type JobSpec } from "@carillon/core";
import type { CreatedJob } from "@carillon/engine";
import { type Call, type CallAnswer, type Handlers, traceOf } from "./http/call.js";
import type { Recall } from "./http/idempotency.js";
import type { ApiOptions } from "./http/handler.js";
import { noTracing } from "./http/tracing.js";
import { problemOf } from "./http/errors.js";
import { type ReadItem, recalledItems, receiptByItem } from "./batch.js";
import { momentOf } from "./http/moment.js";

type Read = ReadItem<JobSpec>;

export function jobBatchHandlers(options: ApiOptions): Pick<Handlers, "createJobs"> {
  const { engine, logger, tracing = noTracing } = options;
  return {
    async createJobs(call) {
      const { namespace, requestId, receipt } = call;
      const read = readAll(options, call);
      const specs = read.flatMap((one) => ("spec" in one ? [one.spec] : []));
      const store = (traced: readonly JobSpec[]) => engine.createJobs(namespace, traced, receiptByItem(receipt, read));
      const stored = specs.length === 0 ? [] : await tracing.enqueueTraced(traceOf(call), specs, store);
      const ours = stored.find((one) => "error" in one && problemOf(one.error, requestId).ours);
      // Where nothing was stored and the caller could not help it, the call as a whole has failed.
      if (ours !== undefined && "error" in ours) {
        if (stored.every((one) => "error" in one)) throw ours.error;
        logger?.error({ err: ours.error, requestId }, "a part of a batch failed");
      }
      const outcomes = stored.values();
      const unanswered = { error: new Error("no answer for a job") };
      return answer(
        read.map((one) => ("error" in one ? one : (outcomes.next().value ?? unanswered))),
        requestId,
      );
    },
  };
}

/** A batch that was stored before. */
export function recallJobs(options: ApiOptions): Recall {
  return async ({ jobs = [] }, call) =>
    answer(
      recalledItems(readAll(options, call), jobs, (id): CreatedJob => ({ id })),
      call.requestId,
    );
}

function readAll(options: ApiOptions, { body, namespace }: Pick<Call<Operation>, "body" | "namespace">): Read[] {
  const moment = momentOf(options, namespace);
  return readJobBatch(body).map((job): Read => attempt(() => normaliseJobRequest(job, moment).spec));
}

function answer(outcomes: readonly CreatedJob[], requestId: string): CallAnswer {
  const results = outcomes.map((outcome): BatchResult => {
    if ("id" in outcome) return { id: formatId("job", outcome.id) };
    return { problem: problemOf(outcome.error, requestId).body };
  });
  const created = results.filter((one) => one.id !== undefined).length;
  return { status: 200, body: { results, created, refused: results.length - created } };
}

function attempt(read: () => JobSpec): Read {
  try {
    return { spec: read() };
  } catch (error) {
    return { error };
  }
}
