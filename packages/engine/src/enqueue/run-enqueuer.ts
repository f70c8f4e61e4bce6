import {
  CarillonError,
  deadlineOf,
  type DurationMs,
  defaultFiringPolicy,
  type EnqueueSpec,
  formatId,
  type Instant,
  isLimited,
  refuseLongPast,
  requirementText,
  storedLabels,
  timeOfUuid,
} from "@carillon/core";
import {
  type Coalescer,
  type DedupedRun,
  type DueRun,
  type LaneStore,
  type NewRun,
  type Outcome,
  type Queued,
  sqlStateOf,
  type StoredRun,
} from "@carillon/store";
import type { Catalog } from "../catalog/catalog.js";
import { ensureLanes, laneNameOf, type LaneSources, refuseUnusable } from "../catalog/lanes.js";
import type { QueueCache } from "../catalog/queues.js";
import type { RankRun } from "../catalog/rank-run.js";
import { shardOf } from "../cluster/shards.js";
import type { EngineContext } from "../context.js";
import type { Wakeups } from "../wakeups/wakeups.js";
import type { DedupeOutcome } from "./dedupe/dedupe-rounds.js";

/** How far the clock of a caller that makes ids may be off. */
export const maxCallerSkewMs: DurationMs = 600_000;

const { catchupWindowMs } = defaultFiringPolicy;

export type RunEnqueuerContext = Pick<EngineContext, "newId" | "now"> & {
  readonly shardCount: number;
  readonly limits: Pick<EngineContext["limits"], "insertBatch">;
  readonly store: { readonly lanes: Pick<LaneStore, "ensure" | "known"> };
  readonly wakeups: Pick<EngineContext["wakeups"], "runsDue" | "runsQueued">;
};

export interface RunEnqueuerDeps {
  readonly catalog: Pick<Catalog, "rank"> & { readonly queues: Pick<QueueCache, "ensure" | "orderOf" | "isKnown"> };
  /** Concurrent calls share one statement of each kind. */
  readonly inserts: {
    /** Runs that may start at once. It wakes the gateways itself. */
    readonly runsNow: Pick<Coalescer<NewRun, Instant>, "add" | "addAll">;
    /** Runs with a time or a deadline. */
    readonly runs: Pick<Coalescer<NewRun, StoredRun>, "addAll">;
    readonly deduped: Pick<Coalescer<DedupedRun, DedupeOutcome>, "addAll">;
  };
}

export interface Refused {
  readonly error: unknown;
}

/** The outcome of one spec. If isNew is false, `id` is the existing run of its dedupe key. */
export type EnqueuedRun = { readonly id: string; readonly isNew: boolean } | { readonly error: unknown };

interface Planned {
  /** The position of the spec in the call. */
  readonly index: number;
  readonly spec: EnqueueSpec;
  readonly run: NewRun;
}

/** The outcome of one spec that was not refused. */
export interface Accepted {
  readonly id: string;
  readonly isNew: boolean;
  /** The stored row, from which the caller of a single run gets its view; null if another run has the dedupe key, or in a large batch. */
  readonly created: NewlyStoredRun | null;
}

type Outcomes = (Accepted | Refused)[];

/** How many chunks of one call are written or wait in a coalescer at a time. */
const maxChunksAtATime = 3;

/** Stores runs without a job and wakes the gateways and schedulers that need them. A run is durable when a call returns. */
export class RunEnqueuer {
  readonly #context: RunEnqueuerContext;
  readonly #deps: RunEnqueuerDeps;
  readonly #laneSources: LaneSources;
  /** Lookups of lanes that are under way. */
  readonly #preparing = new Map<string, Promise<readonly number[]>>();

  constructor(context: RunEnqueuerContext, deps: RunEnqueuerDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#laneSources = { lanes: context.store.lanes, queues: deps.catalog.queues };
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec): Promise<Accepted> {
    if (startsAtOnce(spec)) {
      const lane = this.#knownLane(namespaceId, spec) ?? (await this.prepare(namespaceId, [spec]))[0];
      return this.#enqueueNow(namespaceId, lane ?? 0, spec);
    }
    const [one] = await this.#storeChunk(namespaceId, [spec]);
    if (one === undefined) throw new Error("The insert of a run returned no outcome.");
    if ("error" in one) throw one.error;
    return one;
  }

  /** Returns the outcomes in the order of the specs. A refused spec does not keep the others from being stored. */
  async enqueueMany(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    const { insertBatch } = this.#context.limits;
    const chunks: Promise<Outcomes>[] = [];
    for (let first = 0; first < specs.length; first += insertBatch) {
      await chunks.at(-maxChunksAtATime);
      chunks.push(this.#storeChunk(namespaceId, specs.slice(first, first + insertBatch)));
    }
    return (await Promise.all(chunks)).flat().map(toEnqueuedRun);
  }

  /** The hot path: one run that may start at once, in a known lane. */
  async #enqueueNow(namespaceId: number, lane: number, spec: EnqueueSpec): Promise<Accepted> {
    const run = this.plan({ namespaceId, lane }, spec);
    return acceptedNow(run, await this.#deps.inserts.runsNow.add(run));
  }

  async #storeChunk(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<Outcomes> {
    const laneIds = await this.prepare(namespaceId, specs);
    const outcomes: Outcomes = [];
    const [now, dated, deduped]: [Planned[], Planned[], Planned[]] = [[], [], []];
    for (const [index, spec] of specs.entries()) {
      try {
        const run = this.plan({ namespaceId, lane: laneIds[index] ?? 0 }, spec);
        const group = startsAtOnce(spec) ? now : spec.dedupe === undefined ? dated : deduped;
        group.push({ index, spec, run });
      } catch (error) {
        if (!(error instanceof CarillonError)) throw error;
        outcomes[index] = { error };
      }
    }
    await Promise.all([
      this.#storeNow(now, outcomes),
      this.#storeDated(dated, outcomes),
      this.#storeDeduped(deduped, outcomes),
    ]);
    return outcomes;
  }

  /** With `callersId` a repeated call finds the run under that id. */
  plan({ namespaceId, lane }: Pick<Place, "namespaceId" | "lane">, spec: EnqueueSpec, callersId?: string): NewRun {
    const { queues, rank } = this.#deps.catalog;
    refuseUnusable(spec, queues.orderOf(namespaceId, spec.queue));
    const now = this.#context.now();
    const runAt = spec.runAt ?? now;
    if (runAt !== now) refuseLongPast({ kind: "at", at: runAt }, {}, { now, catchupWindowMs });
    const id = callersId ?? this.#context.newId();
    const shard = shardOf(id, this.#context.shardCount);
    const run = planRun({ id, namespaceId, lane, shard }, spec, runAt, rank);
    return callersId === undefined ? run : { ...run, callerIdSince: timeOfUuid(id) - maxCallerSkewMs };
  }

  async #storeNow(planned: readonly Planned[], outcomes: Outcomes): Promise<void> {
    if (planned.length === 0) return;
    const stored = await this.#deps.inserts.runsNow.addAll(planned.map(({ run }) => run));
    setOutcomes(outcomes, planned, stored, ({ run }) => ({ id: run.id, isNew: true, created: null }));
  }

  async #storeDated(planned: readonly Planned[], outcomes: Outcomes): Promise<void> {
    if (planned.length === 0) return;
    const results = await this.#deps.inserts.runs.addAll(planned.map(({ run }) => run));
    const created: NewlyStoredRun[] = [];
    setOutcomes(outcomes, planned, results, ({ run }, stored) => {
      created.push({ run, stored });
      return { id: run.id, isNew: true, created: { run, stored } };
    });
    announceStored(this.#context.wakeups, created);
  }

  async #storeDeduped(planned: readonly Planned[], outcomes: Outcomes): Promise<void> {
    const runs = planned.flatMap(({ run, spec: { dedupe } }) => (dedupe === undefined ? [] : [{ run, dedupe }]));
    if (runs.length === 0) return;
    const results = await this.#deps.inserts.deduped.addAll(runs);
    const created: NewlyStoredRun[] = [];
    setOutcomes(outcomes, planned, results, ({ run, spec }, result) => {
      const outcome = dedupedOutcome(spec, run, result);
      if ("created" in outcome && outcome.created !== null) created.push(outcome.created);
      return outcome;
    });
    announceStored(this.#context.wakeups, created);
  }

  /** null: the queue or the lane may have to be created first. */
  #knownLane(namespaceId: number, spec: EnqueueSpec): number | null {
    const { lanes } = this.#context.store;
    const { queues } = this.#deps.catalog;
    if (!queues.isKnown(namespaceId, spec.queue)) return null;
    return lanes.known(laneNameOf(spec, queues.orderOf(namespaceId, spec.queue)));
  }

  /**
   * Creates missing queues and lanes; returns the lane of each spec. Concurrent callers of an unknown lane share one lookup: otherwise each
   * would take a connection for it.
   */
  prepare(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<readonly number[]> {
    const [spec] = specs;
    if (spec === undefined || specs.length > 1) return ensureLanes(this.#laneSources, namespaceId, specs);
    const { queue, task, policy } = spec;
    const kind = `${policy.guarantee ?? ""}\n${isLimited(policy)}\n${requirementText(policy.requires)}`;
    const name = `${namespaceId}\n${queue}\n${task}\n${kind}`;
    const underWay = this.#preparing.get(name);
    if (underWay !== undefined) return underWay;
    const prepared = ensureLanes(this.#laneSources, namespaceId, specs).finally(() => this.#preparing.delete(name));
    this.#preparing.set(name, prepared);
    return prepared;
  }
}

/** The run has no time, no deadline that counts from one, and no dedupe key. */
export function startsAtOnce({ runAt, dedupe, policy }: EnqueueSpec): boolean {
  return runAt === null && dedupe === undefined && policy.deadlineMs === undefined;
}

export function acceptedNow(run: NewRun, at: Instant): Accepted {
  const stored: StoredRun = { id: run.id, state: "queued", createdAt: at };
  return { id: run.id, isNew: true, created: { run: { ...run, runAt: at, nominal: at }, stored } };
}

/** The outcome of a spec with a dedupe key. */
export function dedupedOutcome(spec: EnqueueSpec, run: NewRun, result: DedupeOutcome): Accepted | Refused {
  if (result.kind === "stored")
    return { id: run.id, isNew: true, created: result.stored && { run, stored: result.stored } };
  const { runId: id } = result;
  return spec.dedupe?.on === "reject" ? { error: duplicateOf(spec, id) } : { id, isNew: false, created: null };
}

export function toEnqueuedRun(outcome: Accepted | Refused): EnqueuedRun {
  return "error" in outcome ? outcome : { id: outcome.id, isNew: outcome.isNew };
}

function setOutcomes<Stored>(
  outcomes: Outcomes,
  planned: readonly Planned[],
  results: readonly Outcome<Stored>[],
  toOutcome: (planned: Planned, stored: Stored) => Accepted | Refused,
): void {
  for (const [at, one] of planned.entries()) {
    const result = results[at];
    if (result?.status === "fulfilled") outcomes[one.index] = toOutcome(one, result.value);
    else outcomes[one.index] = { error: enqueueError(result?.reason) };
  }
}

const lockNotAvailable = "55P03";

export function enqueueError(error: unknown): unknown {
  if (sqlStateOf(error) !== lockNotAvailable) return error;
  return new CarillonError("dedupe_busy", "A transaction that is still open has enqueued a run with this dedupe key.");
}

export function duplicateOf({ task, dedupe }: EnqueueSpec, id: string): CarillonError {
  const key = dedupe?.key === "" ? "" : ` and dedupe key ${JSON.stringify(dedupe?.key)}`;
  return new CarillonError("run_duplicate", `Run ${formatId("run", id)} already exists for task ${task}${key}.`);
}

/** The ids of a new run or job and of its place, decided before the plan. */
export interface Place {
  readonly id: string;
  readonly namespaceId: number;
  readonly lane: number;
  readonly shard: number;
}

type RunSpec = Omit<EnqueueSpec, "runAt" | "dedupe">;

/** The row of a run without a job: a one-off job is that one row. */
export function planRun(place: Place, spec: RunSpec, runAt: Instant, rank: RankRun): NewRun {
  const { id, namespaceId, shard, lane } = place;
  const { task, queue, priority } = spec;
  const deadline = deadlineOf(spec.policy, runAt);
  // Written out: a million of them are made at a time, and spreading objects costs ten times as much.
  return {
    id,
    jobId: id,
    namespaceId,
    shard,
    lane,
    priority,
    rank: rank({ namespaceId, queue, task, dueMs: runAt, priority, deadlineMs: deadline ?? undefined }),
    runAt,
    nominal: runAt,
    trigger: "once",
    task,
    queue,
    payload: spec.payload,
    policy: spec.policy,
    labels: storedLabels(spec),
    owner: spec.owner ?? null,
    deadline,
  };
}

export interface NewlyStoredRun {
  readonly run: NewRun;
  readonly stored: StoredRun;
}

/** Wakes the gateways for stored runs that are queued, and the schedulers for those that wait for their time. */
export function announceStored(
  wakeups: Pick<Wakeups, "runsQueued" | "runsDue">,
  runs: readonly NewlyStoredRun[],
): void {
  const queued: Queued[] = [];
  const due: DueRun[] = [];
  for (const { run, stored } of runs) {
    if (stored.state === "queued") queued.push(run);
    else if (stored.state === "scheduled") due.push({ id: run.id, shard: run.shard, runAt: run.runAt });
  }
  if (queued.length > 0) wakeups.runsQueued(queued);
  if (due.length > 0) wakeups.runsDue(due);
}
