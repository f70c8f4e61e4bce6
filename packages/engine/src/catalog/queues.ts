import { isDeepStrictEqual } from "node:util";
import { CarillonError, type DurationMs, type Instant, type OrderKind, type QueueOrder } from "@carillon/core";
import type {
  KnownQueue,
  NewQueueState,
  QueueLimits,
  QueueName,
  QueueStats,
  QueueStore,
  QueueView,
} from "@carillon/store";
import type { EngineContext } from "../context.js";
import { type ChangeContext, type Page, type PageRequest, toPage } from "../requests.js";
import type { ChangeAnnouncer } from "./namespaces.js";

/**
 * Changes of queues are short transactions: a change with a lower revision becomes visible at most a moment after one with a higher.
 * Reading this many revisions back finds it.
 */
const revisionsBack = 100;
/** A queue that a caller's own transaction created may become visible much later: one read in this many reads all queues. */
const readsUntilAll = 60;

/** The queues as this node last read them. */
export class QueueCache {
  readonly #store: Pick<QueueStore, "newer" | "ensure">;
  readonly #known = new Map<number, Map<string, KnownQueue>>();
  readonly #listeners: (() => void)[] = [];
  #highest = 0;
  #edition = 0;
  #reads = 0;

  constructor(store: Pick<QueueStore, "newer" | "ensure">) {
    this.#store = store;
  }

  /** null: the default order, or a queue that is not known. */
  orderOf(namespaceId: number, name: string): QueueOrder | null {
    return this.#known.get(namespaceId)?.get(name)?.order ?? null;
  }

  isPaused(namespaceId: number, name: string): boolean {
    return this.#known.get(namespaceId)?.get(name)?.isPaused ?? false;
  }

  isKnown(namespaceId: number, name: string): boolean {
    return this.#known.get(namespaceId)?.has(name) ?? false;
  }

  /** Grows with every new queue. */
  get edition(): number {
    return this.#edition;
  }

  /** The known queues of each namespace. */
  *inUse(): Generator<[namespaceId: number, queues: Iterable<string>]> {
    for (const [namespaceId, queues] of this.#known) yield [namespaceId, queues.keys()];
  }

  /** The listener is called when queues were paused or resumed. */
  onPausesChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Creates the queues that do not exist. */
  async ensure(namespaceId: number, names: Iterable<string>): Promise<void> {
    const missing: QueueName[] = [];
    for (const name of new Set(names)) if (!this.isKnown(namespaceId, name)) missing.push({ namespaceId, name });
    // A queue that another transaction inserted after this statement's snapshot is in neither half of the result: a second try finds it.
    for (let round = 0; round < 2 && missing.some(({ name }) => !this.isKnown(namespaceId, name)); round++)
      this.#remember(await this.#store.ensure(missing));
  }

  async refresh(): Promise<void> {
    const from = ++this.#reads % readsUntilAll === 0 ? 0 : this.#highest - revisionsBack;
    const rows = await this.#store.newer(Math.max(0, from));
    for (const { revision } of rows) this.#highest = Math.max(this.#highest, revision);
    this.#remember(rows);
  }

  #remember(rows: readonly KnownQueue[]): void {
    const changed = rows.filter((row) => {
      const before = this.#known.get(row.namespaceId)?.get(row.name);
      return before === undefined || before.revision < row.revision;
    });
    let pausesChanged = false;
    for (const row of changed) {
      if (row.isPaused !== this.isPaused(row.namespaceId, row.name)) pausesChanged = true;
      let queues = this.#known.get(row.namespaceId);
      if (queues === undefined) this.#known.set(row.namespaceId, (queues = new Map<string, KnownQueue>()));
      if (!queues.has(row.name)) this.#edition++;
      queues.set(row.name, row);
    }
    if (pausesChanged) for (const listener of this.#listeners) listener();
  }
}

/** A pause as a caller requests it. It replaces a pause that is in force and keeps its beginning. */
export interface QueuePauseSpec {
  readonly reason: string | null;
  readonly until: Instant | null;
}

/** Absent members stay as they are. */
export interface QueueChange {
  readonly order?: OrderKind;
  /** null: the order's default. */
  readonly boundMs?: DurationMs | null;
  /** null removes the limit. */
  readonly concurrency?: QueueLimits["concurrency"] | null;
  readonly rateLimit?: QueueLimits["rateLimit"] | null;
}

const defaultState: NewQueueState = { order: { kind: "priority" }, pause: null, limits: null };
/** The most runs of one lane that are counted. */
const maxCounted = 10_000;
/** The number of queues that one statement counts. */
const queuesPerStatement = 20;

/** The queues of a namespace. A queue is created by its first use or by its first change. */
export class Queues {
  readonly #context: Pick<EngineContext, "store" | "now" | "namespaceId" | "inNamespace" | "emit">;
  readonly #catalog: ChangeAnnouncer;

  constructor(
    context: Pick<EngineContext, "store" | "now" | "namespaceId" | "inNamespace" | "emit">,
    catalog: ChangeAnnouncer,
  ) {
    this.#context = context;
    this.#catalog = catalog;
  }

  list(namespace: string, { pageSize, after }: PageRequest): Promise<Page<QueueView>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const rows = await this.#context.store.queues.list(id, after ?? null, pageSize + 1);
      return toPage(rows, pageSize, (row) => row.name);
    });
  }

  get(namespace: string, name: string): Promise<QueueView | null> {
    return this.#context.inNamespace(namespace, (id) => this.#context.store.queues.find(id, name));
  }

  /** Throws precondition_failed, queue_order_fixed, and not_found if nothing is to change of a queue that does not exist. Queued runs keep their place. */
  change(namespace: string, name: string, requested: QueueChange, context: ChangeContext): Promise<QueueView> {
    return this.#change({ namespace, name, event: "updated" }, context, ({ order, pause, limits: before }, isNew) => {
      if (isNew && Object.keys(requested).length === 0) throw noQueue(name);
      const wanted = changedOrder(order, requested);
      if (!isNew && (wanted.kind === "strict") !== (order.kind === "strict")) throw orderFixed(name, order);
      const limits = changedLimits(before, requested);
      if (limits !== null && wanted.kind === "strict") throw strictTakesNoLimits(name);
      return { order: wanted, pause, limits };
    });
  }

  /** Gateways stop claiming from the queue; schedules go on firing. */
  pause(
    namespace: string,
    name: string,
    { reason, until }: QueuePauseSpec,
    context: ChangeContext,
  ): Promise<QueueView> {
    return this.#change({ namespace, name, event: "paused" }, context, ({ order, pause: before, limits }) => {
      const pause = { reason, actor: context.actor, at: before?.at ?? this.#context.now(), until };
      return { order, pause, limits };
    });
  }

  resume(namespace: string, name: string, context: ChangeContext): Promise<QueueView> {
    return this.#change({ namespace, name, event: "resumed" }, context, ({ order, limits }) => ({
      order,
      pause: null,
      limits,
    }));
  }

  /** null if the queue does not exist. */
  stats(namespace: string, name: string): Promise<QueueStats | null> {
    const { queues } = this.#context.store;
    return this.#context.inNamespace(namespace, async (id) => {
      if ((await queues.find(id, name)) === null) return null;
      return (await queues.stats(id, [name], maxCounted)).get(name) ?? null;
    });
  }

  /** The statistics of the queues that exist, by name. */
  statsOfMany(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, QueueStats>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const found = new Map<string, QueueStats>();
      for (let first = 0; first < names.length; first += queuesPerStatement) {
        const page = names.slice(first, first + queuesPerStatement);
        for (const [name, stats] of await this.#context.store.queues.stats(id, page, maxCounted))
          found.set(name, stats);
      }
      return found;
    });
  }

  #change(
    { namespace, name, event }: { namespace: string; name: string; event: "updated" | "paused" | "resumed" },
    { ifVersion }: ChangeContext,
    decide: (before: NewQueueState, isNew: boolean) => NewQueueState,
  ): Promise<QueueView> {
    const { store, inNamespace, emit } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      let isSame = false;
      const view = await store.queues.change({ namespaceId, name }, (before) => {
        if (ifVersion !== undefined && ifVersion !== before?.version) throw versionMismatch(name, before, ifVersion);
        const state = decide(before ?? defaultState, before === null);
        isSame = before !== null && isSameState(state, before);
        return isSame ? "same" : state;
      });
      if (isSame) return view;
      await this.#catalog.announceChange();
      emit({ type: `queue.${event}`, namespaceId, queue: name });
      return view;
    });
  }
}

/** Another order has another default bound, so a change of the order drops the old bound unless it sets a new one. */
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

/** A change to the present state makes no version. */
function isSameState(state: NewQueueState, { order, pause, limits }: QueueView): boolean {
  return isDeepStrictEqual(state, { order, pause, limits });
}

function noQueue(name: string): CarillonError {
  const detail = `There is no queue ${JSON.stringify(name)}. It is created by its first use, or by a change with at least one field.`;
  return new CarillonError("not_found", detail);
}

function strictTakesNoLimits(name: string): CarillonError {
  const detail = `The queue ${JSON.stringify(name)} is strict: it runs one run at a time, in order, and takes no other limits.`;
  return new CarillonError("limit_invalid", detail);
}

/** Runs of a strict queue have lanes of their own, so a node that queues a run must know for certain whether the queue is strict. */
function orderFixed(name: string, { kind }: QueueOrder): CarillonError {
  const detail =
    kind === "strict"
      ? `The queue ${JSON.stringify(name)} is strict and cannot change its order. Use another queue.`
      : `The queue ${JSON.stringify(name)} was created with the order ${kind} and cannot become strict. Make a queue strict before its first use, or use another queue.`;
  return new CarillonError("queue_order_fixed", detail);
}

function versionMismatch(name: string, before: QueueView | null, wanted: number): CarillonError {
  const is = before === null ? "does not exist" : `has version ${before.version}`;
  return new CarillonError("precondition_failed", `The queue ${JSON.stringify(name)} ${is}, not version ${wanted}.`);
}
