import { readRunBatch, readRunCreate, type RunBatchResult, type RunCreated, type Operation } from "@carillon/contract";
import { type EnqueueSpec, formatId } from "@carillon/core";
import type { EnqueuedRun, RunView } from "@carillon/engine";
import { type Call, type CallAnswer, type Handlers, traceOf } from "./http/call.js";
import type { Recall } from "./http/idempotency.js";
import type { ApiOptions } from "./http/handler.js";
import { noTracing } from "./http/tracing.js";
import { problemOf } from "./http/errors.js";
import { wireRun } from "./run-wire.js";
import { awaitEnd, waitOf } from "./await-run.js";
import { type ReadItem, recalledItems, receiptByItem } from "./batch.js";
import { momentOf } from "./http/moment.js";

type Read = ReadItem<EnqueueSpec>;

export function runCreateHandlers(options: ApiOptions): Pick<Handlers, "createRun" | "createRuns"> {
  const { engine, logger, tracing = noTracing } = options;
  return {
    async createRun(call) {
      const { body, namespace, receipt } = call;
      const waitMs = waitOf(call.query);
      const spec = readRunCreate(body, momentOf(options, namespace));
      const { run, isNew } = await tracing.enqueueTraced(traceOf(call), [spec], ([one = spec]) =>
        engine.enqueueShown(namespace, one, receipt),
      );
      return createdRun(await awaitEnd(engine, call, run, waitMs), isNew);
    },
    async createRuns(call) {
      const { namespace, requestId, receipt } = call;
      const read = readAll(options, call);
      const specs = read.flatMap((one) => ("spec" in one ? [one.spec] : []));
      const store = (traced: readonly EnqueueSpec[]) =>
        engine.enqueueMany(namespace, traced, receiptByItem(receipt, read));
      const stored = specs.length === 0 ? [] : await tracing.enqueueTraced(traceOf(call), specs, store);
      const ours = stored.find((one) => "error" in one && problemOf(one.error, requestId).ours);
      // Where nothing was stored and the caller could not help it, the call as a whole has failed.
      if (ours !== undefined && "error" in ours) {
        if (stored.every((one) => "error" in one)) throw ours.error;
        logger?.error({ err: ours.error, requestId }, "a part of a batch failed");
      }
      const outcomes = stored.values();
      const unanswered = { error: new Error("no answer for a run") };
      return answer(
        read.map((one) => ("error" in one ? one : (outcomes.next().value ?? unanswered))),
        requestId,
      );
    },
  };
}

/** A batch that was stored before. */
export function recallRuns(options: ApiOptions): Recall {
  return async ({ runs = [] }, call) =>
    answer(
      recalledItems(readAll(options, call), runs, (run): EnqueuedRun => run),
      call.requestId,
    );
}

export function createdRun(run: RunView, isNew: boolean): CallAnswer {
  const body: RunCreated = { ...wireRun(run), is_new: isNew };
  return isNew ? { status: 201, body, headers: { Location: `/v1/runs/${body.id}` } } : { status: 200, body };
}

function readAll(options: ApiOptions, { body, namespace }: Pick<Call<Operation>, "body" | "namespace">): Read[] {
  const moment = momentOf(options, namespace);
  return readRunBatch(body).map((run): Read => attempt(() => readRunCreate(run, moment)));
}

function answer(outcomes: readonly EnqueuedRun[], requestId: string): CallAnswer {
  const results = outcomes.map((outcome): RunBatchResult => {
    if ("id" in outcome) return { id: formatId("run", outcome.id), is_new: outcome.isNew };
    return { problem: problemOf(outcome.error, requestId).body };
  });
  const created = results.filter((one) => one.is_new === true).length;
  const duplicates = results.filter((one) => one.is_new === false).length;
  return { status: 200, body: { results, created, duplicates, refused: results.length - created - duplicates } };
}

function attempt(read: () => EnqueueSpec): Read {
  try {
    return { spec: read() };
  } catch (error) {
    return { error };
  }
}
