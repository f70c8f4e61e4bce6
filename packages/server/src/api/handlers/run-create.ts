import { readRunBatch, readRunCreate, type RunBatchResult, type RunCreated } from "@carillon/contract";
import { type EnqueueSpec, formatId } from "@carillon/core";
import type { Handlers } from "../call.js";
import type { ApiOptions } from "../ports.js";
import { problemOf } from "../problem.js";
import { wireRun } from "../wire/run.js";
import { momentOf } from "./moment.js";

type Read = { readonly spec: EnqueueSpec } | { readonly error: unknown };

export function runCreateHandlers(options: ApiOptions): Pick<Handlers, "createRun" | "createRuns"> {
  const { engine, logger } = options;
  return {
    async createRun({ body, namespace }) {
      const { run, isNew } = await engine.enqueueShown(namespace, readRunCreate(body, momentOf(options)));
      const created: RunCreated = { ...wireRun(run), is_new: isNew };
      if (!isNew) return { status: 200, body: created };
      return { status: 201, body: created, headers: { Location: `/v1/runs/${created.id}` } };
    },
    async createRuns({ body, namespace, requestId }) {
      const moment = momentOf(options);
      const read = readRunBatch(body).map((run): Read => attempt(() => readRunCreate(run, moment)));
      const specs = read.flatMap((one) => ("spec" in one ? [one.spec] : []));
      const stored = specs.length === 0 ? [] : await engine.enqueueMany(namespace, specs);
      const ours = stored.find((one) => "error" in one && problemOf(one.error, requestId).ours);
      // Where nothing was stored and the caller could not help it, the call as a whole has failed.
      if (ours !== undefined && "error" in ours) {
        if (stored.every((one) => "error" in one)) throw ours.error;
        logger?.error({ err: ours.error, requestId }, "a part of a batch failed");
      }
      const outcomes = stored.values();
      const results = read.map((one): RunBatchResult => {
        const outcome = "error" in one ? one : (outcomes.next().value ?? { error: new Error("no answer for a run") });
        if ("id" in outcome) return { id: formatId("run", outcome.id), is_new: outcome.isNew };
        return { problem: problemOf(outcome.error, requestId).body };
      });
      const created = results.filter((one) => one.is_new === true).length;
      const duplicates = results.filter((one) => one.is_new === false).length;
      return { status: 200, body: { results, created, duplicates, refused: results.length - created - duplicates } };
    },
  };
}

function attempt(read: () => EnqueueSpec): Read {
  try {
    return { spec: read() };
  } catch (error) {
    return { error };
  }
}
