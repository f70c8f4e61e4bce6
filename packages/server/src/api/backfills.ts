import { type Backfill, type operations, readBackfill } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { BackfillView } from "@carillon/engine";
import { found } from "./http/errors.js";
import {
  type ApiOptions,
  type ApiResponse,
  type Call,
  contextOf,
  contextWithReceipt,
  handlers,
  ok,
  type Replays,
  timestamp,
  timestampOrNull,
} from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { JobResponses } from "./jobs.js";
import { idOrNotFound, jobRef } from "./http/request.js";

const backfillList = listOf("backfills", toBackfillJson);

export function backfillHandlers(options: ApiOptions) {
  const { engine } = options;
  return handlers({
    backfillJob: (call) => start(options, call),
    listJobBackfills({ params, query, namespace }) {
      const ref = jobRef(params.id);
      return backfillList(query, [namespace, ref], (page) => engine.backfills.list(namespace, ref, page));
    },
    async getBackfill({ params: { id }, namespace }) {
      return shown(id, await engine.backfills.get(namespace, idOrNotFound("bkf", id)));
    },
    async abortBackfill(call) {
      const { id } = call.params;
      return shown(id, await engine.backfills.abort(call.namespace, idOrNotFound("bkf", id), contextOf(call)));
    },
  });
}

/** The response to a repeated call whose first response was not stored. */
export function backfillReplays({ engine }: ApiOptions): Replays {
  return {
    async backfillJob({ backfill = "" }, { namespace }) {
      const view = await engine.backfills.get(namespace, backfill);
      return startedBackfill(found(view, "The backfill no longer exists."));
    },
  };
}

type StartCall = Call<(typeof operations)["backfillJob"]>;

async function start(options: ApiOptions, call: StartCall): Promise<ApiResponse> {
  const { engine, now } = options;
  const { namespace, params, ifVersion } = call;
  const { request, dryRun } = readBackfill(call.body, now());
  const ref = jobRef(params.id);
  if (!dryRun) {
    return startedBackfill(await engine.backfills.start(namespace, ref, request, contextWithReceipt(call)));
  }
  if (ifVersion !== undefined) await new JobResponses(options).find(namespace, params.id, ifVersion);
  return ok({ total: await engine.backfills.count(namespace, ref, request), dry_run: true });
}

function shown(id: string, backfill: BackfillView | null): ApiResponse {
  return ok(toBackfillJson(found(backfill, `There is no backfill ${id}.`)));
}

function startedBackfill(view: BackfillView): ApiResponse {
  const body = toBackfillJson(view);
  return { status: 202, body, headers: { Location: `/v1/backfills/${body.id}` } };
}

function toBackfillJson(view: BackfillView): Backfill {
  const { state, reason, total, made, passed, skipped, concurrency, force, actor } = view;
  return {
    id: formatId("bkf", view.id),
    job_id: formatId("job", view.jobId),
    state,
    reason,
    from: timestamp(view.from),
    to: timestamp(view.to),
    total,
    made,
    passed,
    skipped,
    through: timestampOrNull(view.through),
    per_second: view.perSecond,
    concurrency,
    repeat: view.repeats,
    force,
    actor,
    created_at: timestamp(view.createdAt),
    finished_at: timestampOrNull(view.finishedAt),
  };
}
