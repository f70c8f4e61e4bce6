import { CarillonError, formatId, type RunPolicy } from "@carillon/core";
import type { NewRun, Queryable, Queued } from "@carillon/store";
import { laneNameOf } from "../catalog/lanes.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun } from "../catalog/rank-run.js";
import { shardOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import type { ChangeContext } from "../requests.js";
import type { RunView } from "../runs/run-reader.js";

/** A run that delivers a message about another run. */
export interface DeliveryRun {
  readonly id: string;
  readonly namespaceId: number;
  /** The endpoint to which it delivers. */
  readonly endpointId: string | null;
  /** The run that the message is about; null: a test. */
  readonly about: string | null;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
}

export interface DeliveryRunsDeps {
  readonly queues: Pick<QueueCache, "ensure" | "orderOf">;
  readonly rank: RankRun;
}

interface RepeatedDelivery {
  readonly kind: "retry" | "replay";
  readonly payload?: unknown;
}

/** Seconds to half a day apart, for about three days: an endpoint may be down over a weekend. */
const policy: RunPolicy = {
  retry: { maxAttempts: 12, backoff: "exponential", initialMs: 5_000, factor: 4, maxMs: 43_200_000 },
  timeoutMs: 30_000,
};
const priority = 4;

/** Stores runs that deliver messages about other runs. */
export class DeliveryRuns {
  readonly #context: EngineContext;
  readonly #deps: DeliveryRunsDeps;

  constructor(context: EngineContext, deps: DeliveryRunsDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  /** Returns the runs that became claimable. */
  async insert(tx: Queryable, made: readonly DeliveryRun[]): Promise<Queued[]> {
    if (made.length === 0) return [];
    const { lanes, runsOver } = this.#context.store;
    const { queues } = this.#deps;
    // New queues are rare. They are created on another connection, so that concurrent transactions see them at once.
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
    this.#context.wakeups.runsQueued(queued);
  }

  /** Repeats a delivery, which belongs to no job. A retry is made once: a second call returns the same run. */
  async repeat(
    namespaceId: number,
    run: RunView,
    { kind, payload }: RepeatedDelivery,
    { actor, receipt }: ChangeContext,
  ): Promise<{ readonly id: string; readonly isNew: boolean }> {
    if (payload !== undefined) {
      const detail = `The run ${formatId("run", run.id)} delivers a message about another run, which cannot get another payload.`;
      throw new CarillonError("run_not_repeatable", detail);
    }
    const { db, store, newId } = this.#context;
    const { failures } = store;
    const id = newId();
    const { jobId: endpointId, task, queue, trigger } = run;
    const { queued, ...repeated } = await db.transaction(async (tx) => {
      if (!(await failures.redrive(tx, { runId: run.id, namespaceId, kind, newRunId: id, actor }))) {
        const redrives = await failures.redriven(tx, namespaceId, [run.id]);
        const first = redrives.find((one) => one.kind === "retry")?.runId;
        if (first === undefined || first === null) throw new Error(`The retry of run ${run.id} cannot be found.`);
        return { id: first, isNew: false, queued: [] as Queued[] };
      }
      const again = { id, namespaceId, endpointId, about: trigger.id, task, queue, payload: run.payload };
      const inserted = await this.insert(tx, [again]);
      await receipt?.keep(tx, { runs: [{ id, isNew: true }] });
      return { id, isNew: true, queued: inserted };
    });
    this.announce(queued);
    return repeated;
  }

  #plan({ id, namespaceId, endpointId, about, task, queue, payload }: DeliveryRun, lane: number): NewRun {
    const at = this.#context.now();
    return {
      id,
      jobId: endpointId,
      namespaceId,
      shard: shardOf(endpointId ?? id, this.#context.shardCount),
      lane,
      priority,
      rank: this.#deps.rank({ namespaceId, queue, task, dueMs: at, priority, deadlineMs: undefined }),
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
