import { CarillonError, type Instant, type QueueOrder } from "@carillon/core";
import type { QueueChange, Queues } from "./queues.js";
import type { NewQueueState, QueueLimits, QueueStats, QueueStore, QueueView } from "@carillon/store";
import type { ChangeContext } from "../requests.js";

export interface QueueApiParts {
  readonly queues: QueueStore;
  /** The id of a namespace; throws not_found. */
  readonly namespaceId: (name: string) => Promise<number>;
  /** The database's clock. */
  readonly now: () => Instant;
  /** A change is stored. Awaited, so that this node follows it before callers hear of it. */
  readonly onChanged: () => Promise<void>;
}

const usualState: NewQueueState = { order: { kind: "priority" }, pause: null, limits: null };
/** Runs of one lane that are counted. */
const mostCounted = 10_000;
/** Queues that one statement counts. */
const queuesAtATime = 20;

/** Queues as callers see them: names of namespaces in, views out. */
export function queueApi({ queues, namespaceId, now, onChanged }: QueueApiParts): Queues {
  async function change(
    at: { namespace: string; name: string },
    { ifVersion }: ChangeContext,
    decide: (before: NewQueueState, isNew: boolean) => NewQueueState,
  ): Promise<QueueView> {
    const within = await namespaceId(at.namespace);
    const view = await queues.change({ namespaceId: within, name: at.name }, (before) => {
      if (ifVersion !== undefined && ifVersion !== before?.version) throw otherVersion(at.name, before, ifVersion);
      return decide(before ?? usualState, before === null);
    });
    await onChanged();
    return view;
  }

  return {
    async listQueues(namespace, { pageSize, after }) {
      const rows = await queues.list(await namespaceId(namespace), after ?? null, pageSize + 1);
      const shown = rows.slice(0, pageSize);
      return { rows: shown, next: rows.length > pageSize ? (shown.at(-1)?.name ?? null) : null };
    },
    getQueue: async (namespace, name) => queues.find(await namespaceId(namespace), name),
    changeQueue: (namespace, name, asked, context) =>
      change({ namespace, name }, context, ({ order, pause, limits: before }, isNew) => {
        const wanted = changedOrder(order, asked);
        if (!isNew && (wanted.kind === "strict") !== (order.kind === "strict")) throw orderFixed(name, order);
        const limits = changedLimits(before, asked);
        if (limits !== null && wanted.kind === "strict") throw limitsOfStrict(name);
        return { order: wanted, pause, limits };
      }),
    pauseQueue: (namespace, name, { reason, until }, context) =>
      change({ namespace, name }, context, ({ order, pause: before, limits }) => {
        const pause = { reason, actor: context.actor, at: before?.at ?? now(), until };
        return { order, pause, limits };
      }),
    resumeQueue: (namespace, name, context) =>
      change({ namespace, name }, context, ({ order, limits }) => ({ order, pause: null, limits })),
    async queueStats(namespace, name) {
      const within = await namespaceId(namespace);
      if ((await queues.find(within, name)) === null) return null;
      return (await queues.stats(within, [name], mostCounted)).get(name) ?? null;
    },
    async manyQueueStats(namespace, names) {
      const within = await namespaceId(namespace);
      const found = new Map<string, QueueStats>();
      for (let first = 0; first < names.length; first += queuesAtATime) {
        const part = await queues.stats(within, names.slice(first, first + queuesAtATime), mostCounted);
        for (const [name, stats] of part) found.set(name, stats);
      }
      return found;
    },
  };
}

/** Another order has another usual bound: the one that was set goes, unless the change sets one. */
function changedOrder(before: QueueOrder, { order: kind = before.kind, boundMs }: QueueChange): QueueOrder {
  const kept = kind === before.kind ? before.boundMs : undefined;
  const bound = boundMs === undefined ? kept : (boundMs ?? undefined);
  return bound === undefined ? { kind } : { kind, boundMs: bound };
}

function changedLimits(before: QueueLimits | null, { concurrency, rateLimit }: QueueChange): QueueLimits | null {
  const limits: { -readonly [Kind in keyof QueueLimits]: QueueLimits[Kind] } = { ...before };
  if (concurrency === null) delete limits.concurrency;
  else if (concurrency !== undefined) limits.concurrency = concurrency;
  if (rateLimit === null) delete limits.rateLimit;
  else if (rateLimit !== undefined) limits.rateLimit = rateLimit;
  return Object.keys(limits).length === 0 ? null : limits;
}

function limitsOfStrict(name: string): CarillonError {
  const detail = `the queue ${JSON.stringify(name)} is strict: it has one run at a time, in order, and takes no other limits`;
  return new CarillonError("limit_invalid", detail);
}

/** Runs of a strict queue lie in lanes of their own, which no other claim reads: who queues a run must be sure of it. */
function orderFixed(name: string, { kind }: QueueOrder): CarillonError {
  const detail =
    kind === "strict"
      ? `the queue ${JSON.stringify(name)} is strict and stays so; use another queue`
      : `the queue ${JSON.stringify(name)} was made with the order ${kind} and cannot become strict: say so before its first use, or use another queue`;
  return new CarillonError("queue_order_fixed", detail);
}

function otherVersion(name: string, before: QueueView | null, wanted: number): CarillonError {
  const is = before === null ? "does not exist" : `has version ${before.version}`;
  return new CarillonError("precondition_failed", `the queue ${JSON.stringify(name)} ${is}, not version ${wanted}`);
}
