import { type operations, readBackfill } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import type { Call, CallAnswer, Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireBackfill } from "./wire/backfill.js";
import { JobAnswers } from "./job-answers.js";
import { contextOf, keptContextOf } from "./job-changes.js";
import { idOrNotFound, jobRef, notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type BackfillHandlers = Pick<Handlers, "backfillJob" | "listJobBackfills" | "getBackfill" | "abortBackfill">;

export function backfillHandlers(options: ApiOptions): BackfillHandlers {
  const { engine } = options;
  return {
    backfillJob: (call) => start(options, call),
    async listJobBackfills({ params, query, namespace }) {
      const ref = jobRef(params.id);
      const list = ["backfills", namespace, ref];
      const page = await engine.listBackfills(namespace, ref, pageRequest(query, list));
      const body = { backfills: page.rows.map(wireBackfill), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getBackfill({ params, namespace }) {
      const view = await engine.getBackfill(namespace, idOrNotFound("bkf", params.id));
      if (view === null) throw notFound(`There is no backfill ${params.id}.`);
      return { status: 200, body: wireBackfill(view) };
    },
    async abortBackfill(call) {
      const { params, namespace } = call;
      const view = await engine.abortBackfill(namespace, idOrNotFound("bkf", params.id), contextOf(call));
      if (view === null) throw notFound(`There is no backfill ${params.id}.`);
      return { status: 200, body: wireBackfill(view) };
    },
  };
}

type StartCall = Call<(typeof operations)["backfillJob"]>;

async function start(options: ApiOptions, call: StartCall): Promise<CallAnswer> {
  const { engine, now } = options;
  const { namespace, params, ifVersion } = call;
  const { request, dryRun } = readBackfill(call.body, now());
  const ref = jobRef(params.id);
  if (!dryRun) {
    const body = wireBackfill(await engine.startBackfill(namespace, ref, request, keptContextOf(call)));
    return { status: 202, body, headers: { Location: `/v1/backfills/${body.id}` } };
  }
  if (ifVersion !== undefined) await requireVersion(options, call, ifVersion);
  return { status: 200, body: { total: await engine.countBackfill(namespace, ref, request), dry_run: true } };
}

async function requireVersion(options: ApiOptions, { namespace, params }: StartCall, wanted: number): Promise<void> {
  const { version } = await new JobAnswers(options).found(namespace, params.id);
  if (version !== wanted)
    throw new CarillonError("precondition_failed", `The job has version ${version}, not ${wanted}.`);
}
