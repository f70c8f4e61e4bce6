import type {
  BulkAction,
  BulkTarget,
  NewOperation,
  OperationAction,
  OperationView,
  StoredOperation,
} from "@carillon/store";
import { afterCommit } from "../after-commit.js";
import { shardOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import { type ChangeContext, type Page, type PageRequest, toPage } from "../requests.js";
import { BulkTargets, OperationRunner, type OperationRunnerDeps } from "./operation-runner.js";

export interface BulkRequest {
  readonly action: BulkAction;
  readonly target: BulkTarget;
}

/** How many runs an operation would affect. */
export interface BulkCount {
  readonly count: number;
  /** There may be more: the count ends at 10,000. */
  readonly isLowerBound: boolean;
}

/** Which waiting runs of a queue a purge ends. */
export interface PurgeRequest {
  /** Also those that wait for their time, or for their next attempt. */
  readonly isOfDelayed: boolean;
}

/** A count reads at most this many pages of this many runs. */
const maxPages = 10;
const pageSize = 1_000;

/** Steps that a purge takes before its call returns. */
const stepsOfCall = 5;

/** Bulk operations over runs: cancel, retry, discard, and the purge of a queue. */
export class Operations {
  readonly #context: EngineContext;
  readonly #targets: BulkTargets;
  readonly #runner: OperationRunner;

  constructor(context: EngineContext, deps: OperationRunnerDeps) {
    this.#context = context;
    this.#targets = new BulkTargets(deps);
    const runner = new OperationRunner(context, deps);
    this.#runner = runner;
    const { loops, wakeups } = context;
    loops.register("operations", () => runner.tick());
    wakeups.on("operations", () => loops.wake("operations"));
    wakeups.on("shards.owned", ({ gained }) => {
      if (gained.length > 0) loops.wake("operations");
    });
  }

  start(namespace: string, request: BulkRequest, change: ChangeContext): Promise<OperationView> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const operation = await this.#insert({ ...request, namespaceId }, change);
      this.#context.wakeups.broadcast("operations");
      return operation;
    });
  }

  count(namespace: string, request: BulkRequest): Promise<BulkCount> {
    return this.#context.inNamespace(namespace, (id) => this.#count(id, request));
  }

  /**
   * Ends the waiting runs of a queue: those that wait for a worker, for a limit or their order, or for another run of their job. A small
   * queue is empty when the call returns; the owner of the operation's shard purges the rest of a large one. null: there is no such queue.
   */
  purgeQueue(
    namespace: string,
    queue: string,
    request: PurgeRequest,
    change: ChangeContext,
  ): Promise<OperationView | null> {
    const { store, inNamespace, wakeups } = this.#context;
    return inNamespace(namespace, async (namespaceId) => {
      if ((await store.queues.find(namespaceId, queue)) === null) return null;
      const inserted = await this.#insert({ namespaceId, ...purgeOf(queue, request) }, change);
      const operation = await afterCommit(() => this.#runner.takeSteps(inserted, stepsOfCall));
      if (operation.state === "running") wakeups.broadcast("operations");
      return operation;
    });
  }

  /** null: there is no such queue. */
  countPurge(namespace: string, queue: string, request: PurgeRequest): Promise<BulkCount | null> {
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      if ((await this.#context.store.queues.find(namespaceId, queue)) === null) return null;
      return this.#count(namespaceId, purgeOf(queue, request));
    });
  }

  get(namespace: string, id: string): Promise<OperationView | null> {
    return this.#context.inNamespace(namespace, (namespaceId) => this.#context.store.operations.find(namespaceId, id));
  }

  /** Newest first. */
  list(namespace: string, { pageSize: limit, after }: PageRequest): Promise<Page<OperationView>> {
    return this.#context.inNamespace(namespace, async (id) => {
      const rows = await this.#context.store.operations.list(id, after ?? null, limit + 1);
      return toPage(rows, limit, (row) => row.id);
    });
  }

  /** Undoes nothing. An operation that has ended is returned unchanged; null: there is none. */
  abort(namespace: string, id: string, { actor }: ChangeContext): Promise<OperationView | null> {
    const { operations } = this.#context.store;
    return this.#context.inNamespace(namespace, async (namespaceId) => {
      const reason = actor === null ? "asked" : `asked by ${actor}`;
      return (await operations.abort(namespaceId, id, reason)) ?? operations.find(namespaceId, id);
    });
  }

  #insert(
    operation: Pick<NewOperation, "namespaceId" | "action" | "target">,
    { actor, receipt, trace }: ChangeContext,
  ): Promise<StoredOperation> {
    const { db, store, newId, shardCount } = this.#context;
    const id = newId();
    return db.transaction(async (tx) => {
      await receipt?.keep(tx, { operation: id });
      return store.operations.insert(tx, { ...operation, id, shard: shardOf(id, shardCount), actor, trace });
    });
  }

  async #count(namespaceId: number, request: Selection): Promise<BulkCount> {
    let count = 0;
    let cursor: string | null = null;
    for (let pages = 0; pages < maxPages; pages += 1) {
      const page = await this.#targets.page({ ...request, namespaceId, cursor, pageSize });
      count += page.runs.length;
      cursor = page.cursor;
      if (cursor === null) return { count, isLowerBound: false };
    }
    return { count, isLowerBound: true };
  }
}

interface Selection {
  readonly action: OperationAction;
  readonly target: BulkTarget;
}

function purgeOf(queue: string, { isOfDelayed }: PurgeRequest): Selection {
  const status = isOfDelayed ? {} : { status: ["queued", "blocked"] as const };
  return { action: "purge", target: { filter: { queue, ...status } } };
}
