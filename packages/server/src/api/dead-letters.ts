import {
  type DeadLetterActionDone,
  type DeadLetterResult,
  type ErrorGroup,
  type operations,
  readDeadLetterAction,
  readDeadLetterQuery,
  type RunWithRedrives,
} from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ErrorGroupView, Page, PageRequest, RedriveResult, RedriveView, RunView } from "@carillon/engine";
import { found, notFound, toProblem } from "./http/errors.js";
import {
  type ApiEngine,
  type ApiOptions,
  type ApiResponse,
  type Call,
  contextOf,
  handlers,
  ok,
  timestamp,
} from "./http/handler.js";
import { listOf, nextPageToken, pageRequest } from "./http/paging.js";
import { idOrNotFound, withJobId, withJobIdInFilter } from "./http/request.js";
import { toRunJson } from "./runs.js";

const deadLetterList = listOf("dead_letters", (run: RunView) => toRunJson(run));

export function deadLetterHandlers({ engine }: ApiOptions) {
  return handlers({
    async listDeadLetters({ query, namespace }) {
      const filter = readDeadLetterQuery(await withJobId(engine, namespace, query));
      return deadLetterList(query, [namespace, filter], (page) => engine.deadLetters.list(namespace, filter, page));
    },
    async getDeadLetter({ params, namespace }) {
      const id = idOrNotFound("run", params.id);
      const run = await engine.runs.get(namespace, id);
      if (run?.status !== "failed") throw notFound(`There is no dead letter ${params.id}.`);
      const redrives = await engine.deadLetters.redrivesOf(namespace, id);
      return ok({ ...toRunJson(run), redrives: redrives.map(toRedriveJson) });
    },
    async discardDeadLetter(call) {
      await engine.deadLetters.discardRun(call.namespace, idOrNotFound("run", call.params.id), contextOf(call));
      return { status: 204 };
    },
    redriveDeadLetters: (call) =>
      act(engine, call, {
        preview: (filter, page) => engine.deadLetters.list(call.namespace, filter, page),
        apply: (filter, page) => engine.deadLetters.redrive(call.namespace, filter, page, contextOf(call)),
      }),
    discardDeadLetters: (call) =>
      act(engine, call, {
        preview: (filter, page) => engine.deadLetters.list(call.namespace, filter, page),
        apply: (filter, page) => engine.deadLetters.discard(call.namespace, filter, page, contextOf(call)),
      }),
  });
}

type Filter = ReturnType<typeof readDeadLetterQuery>;

interface Action {
  preview(filter: Filter, page: PageRequest): Promise<Page<{ readonly id: string }>>;
  apply(filter: Filter, page: PageRequest): Promise<Page<RedriveResult>>;
}

type ActCall = Pick<Call<(typeof operations)["redriveDeadLetters"]>, "body" | "namespace" | "requestId">;

async function act(engine: ApiEngine, call: ActCall, action: Action): Promise<ApiResponse> {
  const { namespace, requestId } = call;
  const { filter, page, dryRun } = readDeadLetterAction(await withJobIdInFilter(engine, namespace, call.body));
  const list = ["dead_letters", namespace, filter];
  const pageWanted = pageRequest(page, list);
  const acted: Page<RedriveResult> = await (dryRun
    ? action.preview(filter, pageWanted)
    : action.apply(filter, pageWanted));
  const results = acted.rows.map(({ id, runId, error }): DeadLetterResult => {
    return {
      id: formatId("run", id),
      ...(!dryRun && runId !== undefined && { run_id: formatId("run", runId) }),
      ...(!dryRun && error !== undefined && { problem: toProblem(error, requestId).body }),
    };
  });
  const refused = results.filter((one) => one.problem !== undefined).length;
  const body: DeadLetterActionDone = {
    results,
    done: dryRun ? 0 : results.length - refused,
    refused,
    dry_run: dryRun,
    next_page_token: nextPageToken(acted, list),
  };
  return ok(body);
}

function toRedriveJson({ kind, runId, actor, at }: RedriveView): RunWithRedrives["redrives"][number] {
  return { kind, run_id: runId === null ? null : formatId("run", runId), actor, at: timestamp(at) };
}

const fingerprintPattern = /^[0-9a-f]{16}$/;
const positionPattern = /^\d{1,15} [0-9a-f]{16}$/;
const errorGroupList = listOf("error_groups", toErrorGroupJson, (text) => (positionPattern.test(text) ? text : null));

export function errorGroupHandlers({ engine }: ApiOptions) {
  return handlers({
    listErrorGroups({ query, namespace }) {
      const { task } = query;
      const filter = { ...(task !== undefined && { task }) };
      return errorGroupList(query, [namespace, filter], (page) =>
        engine.deadLetters.listErrorGroups(namespace, filter, page),
      );
    },
    async getErrorGroup({ params, namespace }) {
      const { fingerprint } = params;
      const group = fingerprintPattern.test(fingerprint)
        ? await engine.deadLetters.getErrorGroup(namespace, fingerprint)
        : null;
      return ok(toErrorGroupJson(found(group, `There is no error group ${JSON.stringify(fingerprint)}.`)));
    },
  });
}

function toErrorGroupJson(group: ErrorGroupView): ErrorGroup {
  const { fingerprint, type, message, tasks, count } = group;
  return {
    fingerprint,
    type,
    message,
    tasks: [...tasks],
    count,
    first_seen_at: timestamp(group.firstSeenAt),
    last_seen_at: timestamp(group.lastSeenAt),
    sample_run_id: formatId("run", group.sampleRunId),
  };
}
