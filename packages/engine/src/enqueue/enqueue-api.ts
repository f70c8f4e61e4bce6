import {
  type EnqueueSpec,
  type Instant,
  canonicalUuid,
  defaultFiringPolicy,
  retryOf,
  shownLabels,
  storedLabels,
} from "@carillon/core";
import {
  type DueRun,
  type NewRun,
  type Queued,
  type Store,
  type StoredRun,
  jsonOrNull,
  jsonParam,
  timestampParam,
} from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import { refuseUnusable } from "../catalog/lane-name.js";
import type { InNamespace } from "../context.js";
import type { Receipt } from "../requests.js";
import { RunReader } from "../runs/run-reader.js";
import type { RunView } from "../runs/run-view.js";
import type { Inserts } from "./coalesced-inserts.js";
import type { Enqueueing, TransactionQuery } from "./enqueue.js";
import type { InsertWithReceipt } from "./idempotency/insert-with-receipt.js";
import { IdempotentEnqueuer } from "./idempotent-enqueuer.js";
import { RunEnqueuer, duplicateOf } from "./run-enqueuer.js";

export interface EnqueueingOptions {
  readonly store: Pick<Store, "lanes" | "reads">;
  readonly catalog: Catalog;
  readonly within: InNamespace;
  readonly inserts: Inserts;
  readonly insertKept: InsertWithReceipt;
  /** Runs of one batch that are stored at a time. */
  readonly chunk: number;
  readonly newId: () => string;
  readonly now: () => Instant;
  readonly shards: number;
  /** Calls the database's own function. */
  readonly callText: string;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

export function makeEnqueueing(options: EnqueueingOptions): Enqueueing {
  const { store, catalog, inserts, within, ...rest } = options;
  const planner = { ...rest, rank: catalog.rank, catchupWindowMs: defaultFiringPolicy.catchupWindowMs };
  const enqueuer = new RunEnqueuer({
    ...planner,
    lanes: store.lanes,
    queues: catalog.queues,
    insertNow: inserts.runsNow,
    insertRun: inserts.runs,
    insertDeduped: inserts.deduped,
  });
  const kept = new IdempotentEnqueuer({ ...planner, enqueuer });
  const runs = new RunReader(store.reads);
  const enqueue = (namespaceId: number, spec: EnqueueSpec, receipt?: Receipt) =>
    receipt === undefined ? enqueuer.enqueue(namespaceId, spec) : kept.enqueue(namespaceId, spec, receipt);
  return {
    enqueue: (namespace, spec) =>
      within(namespace, async (id) => {
        const { id: runId, isNew } = await enqueue(id, spec);
        return { id: runId, isNew };
      }),
    enqueueShown: (namespace, spec, receipt) =>
      within(namespace, async (id) => {
        const { id: runId, isNew, made } = await enqueue(id, spec, receipt);
        const run = made === null ? await runs.find(id, runId) : newRunView(made.run, made.stored);
        if (run === null) throw new Error(`run ${runId} was stored and cannot be found`);
        return { run, isNew };
      }),
    enqueueIn: (tx, namespace, spec, notify) =>
      within(namespace, async (id) => {
        // Not in that transaction: others who need the same new queue or lane would wait for its end.
        await enqueuer.prepare(id, [spec]);
        return enqueueInTransaction(tx, options.callText, { namespace, spec, notify });
      }),
    enqueueMany: (namespace, specs, receipt) =>
      within(namespace, (id) =>
        receipt === undefined ? enqueuer.enqueueMany(id, specs) : kept.enqueueMany(id, specs, receipt),
      ),
  };
}

/** A run as it was stored a moment ago: what a read would have shown then. */
export function newRunView(run: NewRun, stored: StoredRun): RunView {
  return {
    id: run.id,
    jobId: run.jobId,
    task: run.task,
    queue: run.queue,
    priority: run.priority,
    status: stored.state === "far_future" ? "scheduled" : stored.state,
    statusReason: null,
    trigger: { kind: "once", id: null, scheduledFor: run.nominal },
    runAt: run.runAt,
    deadlineAt: run.deadline ?? null,
    createdAt: stored.createdAt,
    startedAt: null,
    finishedAt: null,
    attempt: 0,
    maxAttempts: retryOf(run.policy).maxAttempts,
    losses: 0,
    workerId: null,
    progress: null,
    payload: run.payload ?? null,
    policy: run.policy,
    output: null,
    error: null,
    attempts: [],
    labels: shownLabels(run.labels),
    owner: run.owner,
  };
}

export interface TransactionRequest {
  readonly namespace: string;
  readonly spec: EnqueueSpec;
  /** Whether the commit tells whoever waits. */
  readonly notify: boolean;
}

/**
 * Asks for a run over somebody's own connection, by the database's function. All values are texts, numbers, booleans or null, which every
 * driver sends alike.
 */
export async function enqueueInTransaction(
  tx: TransactionQuery,
  text: string,
  request: TransactionRequest,
): Promise<{ readonly id: string; readonly isNew: boolean }> {
  const { spec } = request;
  refuseUnusable(spec, null);
  const answer = rowOf(await tx.query(text, valuesOf(request)));
  if (!answer.isNew && spec.dedupe?.on === "reject") throw duplicateOf(spec, answer.id);
  return answer;
}

function valuesOf({ namespace, spec, notify }: TransactionRequest): unknown[] {
  const { dedupe, runAt } = spec;
  return [
    spec.task,
    jsonParam(spec.payload),
    spec.queue,
    spec.priority,
    runAt === null ? null : timestampParam(runAt),
    jsonOrNull(spec.policy),
    jsonOrNull(storedLabels(spec)),
    spec.owner ?? null,
    dedupe?.key ?? null,
    // A refusal by the function would end the caller's transaction; the caller is told without that.
    dedupe === undefined || dedupe.on === "reject" ? null : dedupe.on,
    dedupe === undefined || dedupe.windowMs === null ? null : dedupe.windowMs / 1_000,
    notify,
    namespace,
  ];
}

/** Drivers answer with the rows, or with an object that has them. */
function rowOf(answer: unknown): { readonly id: string; readonly isNew: boolean } {
  const rows: unknown = Array.isArray(answer) ? answer : (answer as { rows?: unknown } | null)?.rows;
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row === "object" && row !== null && "run_id" in row && "is_new" in row) {
    const id = canonicalUuid(String(row.run_id));
    if (id !== null) return { id, isNew: row.is_new === true };
  }
  throw new TypeError("tx.query must answer with the rows, or with an object that has them as rows");
}
