import type { Instant, RunPolicy } from "@carillon/core";
import { laneNameOf } from "../catalog/lane-name.js";
import { shardOf } from "../catalog/shard-of.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun } from "../catalog/rank-run.js";
import type { LaneStore, NewRun, Queryable, Queued, RunStore } from "@carillon/store";

/** A run that tells of another. */
export interface SystemRun {
  readonly id: string;
  readonly namespaceId: number;
  /** The endpoint that it goes to, which it is found by. */
  readonly endpointId: string | null;
  /** The run that it tells of; null: a test. */
  readonly about: string | null;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
}

export interface SystemRunsOptions {
  readonly runsOver: (tx: Queryable) => Pick<RunStore, "insert">;
  readonly lanes: Pick<LaneStore, "ensure">;
  readonly queues: Pick<QueueCache, "ensure" | "orderOf">;
  readonly rank: RankRun;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly shards: number;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

/** From seconds to half a day apart, for about three days: an endpoint may be away over a weekend. */
const policy: RunPolicy = {
  retry: { maxAttempts: 12, backoff: "exponential", initialMs: 5_000, factor: 4, maxMs: 43_200_000 },
  timeoutMs: 30_000,
};
const priority = 4;

/** Stores runs that tell of others. */
export class SystemRuns {
  readonly #options: SystemRunsOptions;

  constructor(options: SystemRunsOptions) {
    this.#options = options;
  }

  /** Answers what became claimable. */
  async insert(tx: Queryable, made: readonly SystemRun[]): Promise<Queued[]> {
    if (made.length === 0) return [];
    const { lanes, queues, runsOver } = this.#options;
    // New ones are few, and made on another connection: whoever comes after finds them known.
    for (const { namespaceId, queue } of made) await queues.ensure(namespaceId, [queue]);
    const laneIds = await lanes.ensure(
      made.map((run) => laneNameOf({ ...run, policy }, queues.orderOf(run.namespaceId, run.queue))),
    );
    const runs = made.map((run, index) => this.#plan(run, laneIds[index] ?? 0));
    await runsOver(tx).insert(runs);
    return runs.map(({ id, lane, rank }) => ({ id, lane, rank }));
  }

  /** After the commit. */
  announce(queued: readonly Queued[]): void {
    if (queued.length > 0) this.#options.onQueued(queued);
  }

  #plan({ id, namespaceId, endpointId, about, task, queue, payload }: SystemRun, lane: number): NewRun {
    const { rank, now, shards } = this.#options;
    const at = now();
    return {
      id,
      jobId: endpointId,
      namespaceId,
      shard: shardOf(endpointId ?? id, shards),
      lane,
      priority,
      rank: rank({ namespaceId, queue, task, dueMs: at, priority, deadlineMs: undefined }),
      runAt: at,
      nominal: at,
      trigger: about === null ? "callback" : `callback:${about}`,
      task,
      queue,
      payload,
      policy,
      labels: {},
      owner: null,
    };
  }
}
