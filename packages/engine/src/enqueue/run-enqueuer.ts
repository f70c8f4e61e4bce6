import { CarillonError, deadlineOf, type DurationMs, type EnqueueSpec, formatId, type Instant } from "@carillon/core";
import { laneNameOf } from "../jobs/lane-name.js";
import { refuseLongPast } from "../jobs/plan-job.js";
import { shardOf } from "../jobs/shard-of.js";
import type { EnqueuedRun } from "../model/enqueueing.js";
import type { QueueBook } from "../queues/queue-book.js";
import type { RankRun } from "../queues/rank-run.js";
import { sqlStateOf } from "../store/db/classify.js";
import type { Coalescer } from "../store/db/coalescer.js";
import type { DedupedRun } from "../store/entities/dedupes.js";
import type { LaneStore } from "../store/entities/lanes.js";
import type { DueRun, NewRun, Queued, StoredRun } from "../store/entities/runs.js";
import type { DedupeOutcome } from "./dedupe-rounds.js";

export interface RunEnqueuerOptions {
  readonly lanes: Pick<LaneStore, "ensure">;
  readonly queues: Pick<QueueBook, "ensure" | "orderOf">;
  readonly rank: RankRun;
  /** Concurrent calls share one statement. */
  readonly insertRun: Coalescer<NewRun, StoredRun>;
  readonly insertDeduped: Coalescer<DedupedRun, DedupeOutcome>;
  readonly newId: () => string;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly shards: number;
  readonly catchupWindowMs: DurationMs;
  /** Runs of one batch that are stored at a time. */
  readonly chunk: number;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

interface Refused {
  readonly error: unknown;
}

interface Planned {
  readonly spec: EnqueueSpec;
  readonly run: NewRun;
}

/** What became of one request; `made` where this call made the run and knows what it looks like. */
interface Answered {
  readonly id: string;
  readonly isNew: boolean;
  readonly made: { readonly run: NewRun; readonly stored: StoredRun } | null;
}

/** Stores runs that are asked for directly and tells whoever hands them out; durable when it returns. */
export class RunEnqueuer {
  readonly #options: RunEnqueuerOptions;
  readonly #preparing = new Map<string, Promise<readonly number[]>>();

  constructor(options: RunEnqueuerOptions) {
    this.#options = options;
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec): Promise<Answered> {
    const [one] = await this.#storeChunk(namespaceId, [spec]);
    if (one === undefined) throw new Error("a run was to be stored and no answer came");
    if ("error" in one) throw one.error;
    return one;
  }

  /** Answers in the order of the specs. One that cannot be stored does not keep the others from it. */
  async enqueueMany(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    const { chunk } = this.#options;
    const enqueued: EnqueuedRun[] = [];
    for (let first = 0; first < specs.length; first += chunk) {
      const answered = await this.#storeChunk(namespaceId, specs.slice(first, first + chunk));
      for (const one of answered) enqueued.push("error" in one ? one : { id: one.id, isNew: one.isNew });
    }
    return enqueued;
  }

  async #storeChunk(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<(Answered | Refused)[]> {
    const laneIds = await this.prepare(namespaceId, specs);
    const at = this.#options.now();
    const planned = specs.map((spec, index): Planned | Refused => {
      try {
        return { spec, run: this.#plan(namespaceId, laneIds[index] ?? 0, spec, at) };
      } catch (error) {
        if (error instanceof CarillonError) return { error };
        throw error;
      }
    });
    const writes = this.#write(planned.flatMap((one) => ("run" in one ? [one] : [])));
    const answers = (await Promise.allSettled(writes)).values();
    const queued: Queued[] = [];
    const due: DueRun[] = [];
    const enqueued = planned.map((one): Answered | Refused => {
      if ("error" in one) return one;
      const answer = answers.next().value;
      if (answer?.status !== "fulfilled") return { error: answer && ownError(answer.reason) };
      const { id, isNew, made } = answer.value;
      const state = made?.stored.state;
      if (state === "queued") queued.push({ id, lane: one.run.lane, rank: one.run.rank });
      else if (state === "scheduled") due.push({ id, shard: one.run.shard, runAt: one.run.runAt });
      if (!isNew && one.spec.dedupe?.on === "reject") return { error: duplicateOf(one.spec, id) };
      return answer.value;
    });
    if (queued.length > 0) this.#options.onQueued(queued);
    if (due.length > 0) this.#options.onDueRuns(due);
    return enqueued;
  }

  /**
   * Makes the queues and lanes that are not there yet; answers the lanes. Callers that come together ask once: before they are known,
   * each would take a connection for it.
   */
  prepare(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<readonly number[]> {
    const [spec] = specs;
    if (spec === undefined || specs.length > 1) return this.#ensure(namespaceId, specs);
    const name = `${namespaceId}\n${spec.queue}\n${spec.task}\n${spec.policy.guarantee ?? ""}`;
    const underWay = this.#preparing.get(name);
    if (underWay !== undefined) return underWay;
    const prepared = this.#ensure(namespaceId, specs).finally(() => this.#preparing.delete(name));
    this.#preparing.set(name, prepared);
    return prepared;
  }

  async #ensure(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<readonly number[]> {
    const { lanes, queues } = this.#options;
    await queues.ensure(
      namespaceId,
      specs.map((spec) => spec.queue),
    );
    return lanes.ensure(specs.map((spec) => laneNameOf(spec, queues.orderOf(namespaceId, spec.queue))));
  }

  /** Those of each kind go together; the answers are in the order of the runs. */
  #write(planned: readonly Planned[]): Promise<Answered>[] {
    const { insertRun, insertDeduped } = this.#options;
    const plain = insertRun
      .addAll(planned.flatMap(({ spec, run }) => (spec.dedupe === undefined ? [run] : [])))
      .values();
    const deduped = insertDeduped
      .addAll(planned.flatMap(({ spec: { dedupe }, run }) => (dedupe === undefined ? [] : [{ run, dedupe }])))
      .values();
    return planned.map(async ({ spec, run }): Promise<Answered> => {
      if (spec.dedupe === undefined) {
        const stored = await next(plain);
        return { id: run.id, isNew: true, made: { run, stored } };
      }
      const outcome = await next(deduped);
      if (outcome.kind === "held") return { id: outcome.runId, isNew: false, made: null };
      const { stored } = outcome;
      return { id: run.id, isNew: true, made: stored && { run, stored } };
    });
  }

  /** A run that stands alone is a one-off job, one row. */
  #plan(namespaceId: number, lane: number, spec: EnqueueSpec, now: Instant): NewRun {
    const { newId, shards, catchupWindowMs, rank } = this.#options;
    const { task, queue, priority } = spec;
    const runAt = spec.runAt ?? now;
    refuseLongPast({ kind: "at", at: runAt }, {}, { now, catchupWindowMs });
    const id = newId();
    const deadline = deadlineOf(spec.policy, runAt);
    const deadlineMs = deadline ?? undefined;
    return {
      id,
      jobId: id,
      namespaceId,
      shard: shardOf(id, shards),
      lane,
      priority: spec.priority,
      rank: rank({ namespaceId, queue, task, dueMs: runAt, priority, deadlineMs }),
      runAt,
      nominal: runAt,
      trigger: "once",
      task: spec.task,
      queue: spec.queue,
      payload: spec.payload,
      policy: spec.policy,
      labels: spec.labels,
      owner: spec.owner ?? null,
      deadline,
    };
  }
}

function next<Answer>(answers: IterableIterator<Promise<Answer>>): Promise<Answer> {
  const { value } = answers.next();
  if (value === undefined) throw new Error("a run was sent to be stored and has no answer");
  return value;
}

const lockNotAvailable = "55P03";

function ownError(error: unknown): unknown {
  if (sqlStateOf(error) !== lockNotAvailable) return error;
  return new CarillonError("dedupe_busy", "A transaction that is still open asked for a run with this dedupe key.");
}

export function duplicateOf({ task, dedupe }: EnqueueSpec, id: string): CarillonError {
  const what = dedupe?.key === "" ? `the task ${task}` : `the key ${JSON.stringify(dedupe?.key)} of ${task}`;
  return new CarillonError("run_duplicate", `for ${what} the run ${formatId("run", id)} counts`);
}
