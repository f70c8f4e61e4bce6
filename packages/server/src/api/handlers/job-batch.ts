import { type BatchResult, normaliseJobRequest, readJobBatch, type Operation } from "@carillon/contract";
import { CarillonError, formatId, type JobSpec } from "@carillon/core";
import type { CreatedJob } from "@carillon/engine";
import { type Call, type CallAnswer, type Handlers, traceOf } from "../call.js";
import type { Recall } from "../idempotency.js";
import type { ApiOptions } from "../ports.js";
import { noTracing } from "../tracing.js";
import { problemOf } from "../problem.js";
import { momentOf } from "./moment.js";

type Read = { readonly spec: JobSpec } | { readonly error: unknown };

export function jobBatchHandlers(options: ApiOptions): Pick<Handlers, "createJobs"> {
  const { engine, logger, tracing = noTracing } = options;
  return {
    async createJobs(call) {
      const { namespace, requestId, receipt } = call;
      const read = readAll(options, call);
      const specs = read.flatMap((one) => ("spec" in one ? [one.spec] : []));
      const store = (traced: readonly JobSpec[]) => engine.createJobs(namespace, traced, receipt);
      const stored = specs.length === 0 ? [] : await tracing.enqueueTraced(traceOf(call), specs, store);
      const ours = stored.find((one) => "error" in one && problemOf(one.error, requestId).ours);
      // Where nothing was stored and the caller could not help it, the call as a whole has failed.
      if (ours !== undefined && "error" in ours) {
        if (stored.every((one) => "error" in one)) throw ours.error;
        logger?.error({ err: ours.error, requestId }, "a part of a batch failed");
      }
      return answer(read, stored, requestId);
    },
  };
}

/** A batch that was stored before; why some of it was refused then is known where that did not depend on the time. */
export function recallJobs(options: ApiOptions): Recall {
  return async ({ jobs = [] }, call) => {
    const stored = jobs.map((id): CreatedJob => (id === null ? { error: refusedBefore() } : { id }));
    return answer(readAll(options, call), stored, call.requestId);
  };
}

export function refusedBefore(): CarillonError {
  return new CarillonError("bad_request", "It was refused when this call was made first.");
}

function readAll(options: ApiOptions, { body, namespace }: Pick<Call<Operation>, "body" | "namespace">): Read[] {
  const moment = momentOf(options, namespace);
  return readJobBatch(body).map((job): Read => attempt(() => normaliseJobRequest(job, moment).spec));
}

function answer(read: readonly Read[], stored: readonly CreatedJob[], requestId: string): CallAnswer {
  const outcomes = stored.values();
  const results = read.map((one): BatchResult => {
    const outcome = "error" in one ? one : (outcomes.next().value ?? { error: new Error("no answer for a job") });
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
