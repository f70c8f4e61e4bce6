import type { RunList, RunListQuery } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import type { EngineApi, RunView } from "@carillon/engine";
import type { CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { type RunFacts, wireRun } from "./run-wire.js";
import { awaitEnd, waitOf } from "./await-run.js";
import { runFilter } from "./filters.js";
import { withJobId } from "./job-by-key.js";
import { idOrNotFound, notFound } from "./references.js";
import { nextPageToken, orderOf, pageRequest } from "./http/list-page.js";

export function runHandlers({ engine }: ApiOptions): Pick<Handlers, "listRuns" | "getRun"> {
  return {
    async listRuns({ query, namespace }) {
      return runPage(engine, namespace, await withJobId(engine, namespace, query));
    },
    async getRun(call) {
      const { params, namespace } = call;
      const waitMs = waitOf(call.query);
      const found = await engine.getRun(namespace, idOrNotFound("run", params.id));
      if (found === null) throw notFound(`There is no run ${params.id}.`);
      const run = await awaitEnd(engine, call, found, waitMs);
      return { status: 200, body: wireRun(run, await factsOf(engine, namespace, run)) };
    },
  };
}

async function factsOf(engine: ApiOptions["engine"], namespace: string, run: RunView): Promise<RunFacts> {
  if (run.status === "running") return {};
  if (!isFinal(run.status)) return { waitingOn: await engine.explain(namespace, run) };
  if (run.status !== "failed") return {};
  const redrives = await engine.redrivesOf(namespace, run.id);
  return { retriedAs: redrives.find(({ kind }) => kind === "retry")?.runId ?? null };
}

/** A run that the call has just made. */
export function madeRun(run: RunView): CallAnswer {
  const body = wireRun(run);
  return { status: 201, body, headers: { Location: `/v1/runs/${body.id}` } };
}

function noRuns({ total }: RunListQuery): RunList {
  const none = { count: 0, accuracy: "exact" } as const;
  return { runs: [], next_page_token: null, ...(total !== undefined && { total: none }) };
}

/** One page of runs: of all, or of one job. */
export async function runPage(
  engine: EngineApi,
  namespace: string,
  query: RunListQuery,
  jobId?: string,
): Promise<CallAnswer> {
  const filter = runFilter(query, jobId);
  if (filter === undefined) return { status: 200, body: noRuns(query) };
  const list = ["runs", namespace, filter, ...orderOf(query)];
  const page = await engine.listRuns(namespace, filter, pageRequest(query, list));
  const total = query.total === undefined ? undefined : await engine.totalRuns(namespace, filter, query.total);
  return {
    status: 200,
    body: {
      runs: page.rows.map((run) => wireRun(run)),
      next_page_token: nextPageToken(page, list),
      ...(total !== undefined && { total: { ...total } }),
    },
  };
}
