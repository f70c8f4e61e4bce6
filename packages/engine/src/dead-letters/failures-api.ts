import { type Page, type PageRequest, toPage } from "../requests.js";
import { CarillonError, formatId } from "@carillon/core";
import { type RunReader, toRunView } from "../runs/run-reader.js";
import type { Failures, RedriveResult } from "./failures.js";
import type { RunView } from "../runs/run-view.js";
import type { InNamespace } from "../context.js";
import type { DeadLetterFilter, ErrorGroupView, FailureStore, GroupPlace, Queryable } from "@carillon/store";
import type { Repeated, Repeats } from "./repeats.js";

export interface FailuresParts {
  readonly db: Queryable;
  readonly failures: FailureStore;
  readonly runs: RunReader;
  readonly repeats: Repeats;
  readonly within: InNamespace;
}

/** Dead letters and kinds of errors as callers see them: names of namespaces in, views out. */
export function failuresApi(parts: FailuresParts): Failures {
  return { ...letterCalls(parts), ...repeatCalls(parts), ...groupCalls(parts) };
}

type LetterCalls = Pick<Failures, "listDeadLetters" | "redrivesOf" | "discardRun" | "discard">;

function letterCalls(parts: FailuresParts): LetterCalls {
  const { db, failures, within } = parts;
  return {
    listDeadLetters: (namespace, filter, page) => within(namespace, (id) => deadLetters(parts, id, filter, page)),
    redrivesOf: (namespace, runId) =>
      within(namespace, async (id) => {
        const rows = await failures.redriven(db, id, [runId]);
        return rows.map(({ kind, runId: newId, actor, at }) => ({ kind, runId: newId, actor, at }));
      }),
    discardRun: (namespace, runId, { actor }) =>
      within(namespace, async (id) => {
        const run = await found(parts, id, runId);
        if (run.status !== "failed")
          throw new CarillonError("run_not_failed", `the run ${formatId("run", runId)} is ${run.status}`);
        await failures.discard(id, [runId], actor);
      }),
    discard: (namespace, filter, page, { actor }) =>
      within(namespace, async (id) => {
        const { rows, next } = await deadLetters(parts, id, filter, page);
        const ids = rows.map((run) => run.id);
        return { rows: (await failures.discard(id, ids, actor)).map((one) => ({ id: one })), next };
      }),
  };
}

type RepeatCalls = Pick<Failures, "retryRun" | "replayRun" | "redrive">;

function repeatCalls(parts: FailuresParts): RepeatCalls {
  const { repeats, within } = parts;
  return {
    retryRun: (namespace, runId, request, context) =>
      within(namespace, async (id) => {
        const made = await repeats.retry(id, await found(parts, id, runId), request, context);
        return { run: await found(parts, id, made.id), isNew: made.isNew };
      }),
    replayRun: (namespace, runId, request, context) =>
      within(namespace, async (id) => {
        const made = await repeats.replay(id, await found(parts, id, runId), request, context);
        return found(parts, id, made);
      }),
    redrive: (namespace, filter, page, context) =>
      within(namespace, async (id) => {
        const { rows, next } = await deadLetters(parts, id, filter, page);
        const results: RedriveResult[] = [];
        // One after the other: each locks its job, and the newest failures of a job must not shut out each other.
        for (const run of rows) results.push(await redriven(run, () => repeats.retry(id, run, {}, context)));
        return { rows: results, next };
      }),
  };
}

/** What cannot be retried does not keep the others from it. */
async function redriven({ id }: RunView, retry: () => Promise<Repeated>): Promise<RedriveResult> {
  try {
    return { id, runId: (await retry()).id };
  } catch (error) {
    if (error instanceof CarillonError && error.code !== "database_unavailable") return { id, error };
    throw error;
  }
}

type GroupCalls = Pick<Failures, "listErrorGroups" | "getErrorGroup">;

function groupCalls({ failures, within }: FailuresParts): GroupCalls {
  return {
    listErrorGroups: (namespace, { task = null }, { pageSize, after }) =>
      within(namespace, async (id): Promise<Page<ErrorGroupView>> => {
        const rows = await failures.groups(id, task, after === undefined ? null : placeOf(after), pageSize + 1);
        const shown = rows.slice(0, pageSize);
        const last = rows.length > pageSize ? shown.at(-1) : undefined;
        return { rows: shown, next: last === undefined ? null : `${last.lastSeenAt} ${last.fingerprint}` };
      }),
    getErrorGroup: (namespace, fingerprint) => within(namespace, (id) => failures.group(id, fingerprint)),
  };
}

/** A kind that is seen again while pages are read comes to the front: it may be missed there, and is never shown twice. */
function placeOf(after: string): GroupPlace {
  const [seenAt = "", fingerprint = ""] = after.split(" ");
  return { seenAt: Number(seenAt), fingerprint };
}

async function deadLetters(
  { failures }: FailuresParts,
  namespaceId: number,
  filter: DeadLetterFilter,
  { pageSize, after }: PageRequest,
): Promise<Page<RunView>> {
  const rows = await failures.deadLetters(namespaceId, filter, after ?? null, pageSize + 1);
  return toPage(
    rows.map((row) => toRunView(row, null)),
    pageSize,
    (run) => run.id,
  );
}

async function found({ runs }: FailuresParts, namespaceId: number, id: string): Promise<RunView> {
  const run = await runs.find(namespaceId, id);
  if (run === null) throw new CarillonError("not_found", `there is no run ${formatId("run", id)}`);
  return run;
}
