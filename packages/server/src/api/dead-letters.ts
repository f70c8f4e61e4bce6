import {
  type DeadLetterActionDone,
  type DeadLetterResult,
  type operations,
  readDeadLetterAction,
  readDeadLetterQuery,
  readRunRepeat,
} from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { Page, PageRequest, RedriveResult } from "@carillon/engine";
import type { Call, CallAnswer, Handlers } from "./http/call.js";
import type { ApiEngine, ApiOptions } from "./http/handler.js";
import { problemOf } from "./http/errors.js";
import { wireRedrive } from "./wire/failures.js";
import { wireRun } from "./run-wire.js";
import { contextOf, keptContextOf } from "./job-changes.js";
import { withJobId, withJobIdInside } from "./job-by-key.js";
import { idOrNotFound, notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";
import { madeRun } from "./runs.js";

type DeadLetterHandlers = Pick<
  Handlers,
  | "listDeadLetters"
  | "getDeadLetter"
  | "discardDeadLetter"
  | "redriveDeadLetters"
  | "discardDeadLetters"
  | "retryRun"
  | "replayRun"
>;

export function deadLetterHandlers({ engine }: ApiOptions): DeadLetterHandlers {
  return {
    async listDeadLetters({ query, namespace }) {
      const filter = readDeadLetterQuery(await withJobId(engine, namespace, query));
      const list = ["dead_letters", namespace, filter];
      const page = await engine.listDeadLetters(namespace, filter, pageRequest(query, list));
      const body = { dead_letters: page.rows.map((run) => wireRun(run)), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getDeadLetter({ params, namespace }) {
      const id = idOrNotFound("run", params.id);
      const run = await engine.getRun(namespace, id);
      if (run?.status !== "failed") throw notFound(`There is no dead letter ${params.id}.`);
      const redrives = await engine.redrivesOf(namespace, id);
      return { status: 200, body: { ...wireRun(run), redrives: redrives.map(wireRedrive) } };
    },
    async discardDeadLetter(call) {
      await engine.discardRun(call.namespace, idOrNotFound("run", call.params.id), contextOf(call));
      return { status: 204 };
    },
    redriveDeadLetters: (call) =>
      act(engine, call, {
        preview: (filter, page) => engine.listDeadLetters(call.namespace, filter, page),
        apply: (filter, page) => engine.redrive(call.namespace, filter, page, contextOf(call)),
      }),
    discardDeadLetters: (call) =>
      act(engine, call, {
        preview: (filter, page) => engine.listDeadLetters(call.namespace, filter, page),
        apply: (filter, page) => engine.discard(call.namespace, filter, page, contextOf(call)),
      }),
    async retryRun(call) {
      const id = idOrNotFound("run", call.params.id);
      const { run, isNew } = await engine.retryRun(call.namespace, id, readRunRepeat(call.body), keptContextOf(call));
      const body = { ...wireRun(run), is_new: isNew };
      return isNew ? { status: 201, body, headers: { Location: `/v1/runs/${body.id}` } } : { status: 200, body };
    },
    async replayRun(call) {
      const id = idOrNotFound("run", call.params.id);
      return madeRun(await engine.replayRun(call.namespace, id, readRunRepeat(call.body), keptContextOf(call)));
    },
  };
}

type Filter = ReturnType<typeof readDeadLetterQuery>;

interface Action {
  preview(filter: Filter, page: PageRequest): Promise<Page<{ readonly id: string }>>;
  apply(filter: Filter, page: PageRequest): Promise<Page<RedriveResult>>;
}

type ActCall = Pick<Call<(typeof operations)["redriveDeadLetters"]>, "body" | "namespace" | "requestId">;

async function act(engine: ApiEngine, call: ActCall, action: Action): Promise<CallAnswer> {
  const { namespace, requestId } = call;
  const { filter, page, dryRun } = readDeadLetterAction(await withJobIdInside(engine, namespace, call.body));
  const list = ["dead_letters", namespace, filter];
  const asked = pageRequest(page, list);
  const found: Page<RedriveResult> = await (dryRun ? action.preview(filter, asked) : action.apply(filter, asked));
  const results = found.rows.map(({ id, runId, error }): DeadLetterResult => {
    return {
      id: formatId("run", id),
      ...(!dryRun && runId !== undefined && { run_id: formatId("run", runId) }),
      ...(!dryRun && error !== undefined && { problem: problemOf(error, requestId).body }),
    };
  });
  const refused = results.filter((one) => one.problem !== undefined).length;
  const answer: DeadLetterActionDone = {
    results,
    done: dryRun ? 0 : results.length - refused,
    refused,
    dry_run: dryRun,
    next_page_token: nextPageToken(found, list),
  };
  return { status: 200, body: answer };
}
