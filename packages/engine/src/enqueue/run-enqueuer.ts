import { CarillonError, type EnqueueSpec, formatId, type Instant, isLimited, requirementText } from "@carillon/core";
import { ensureLanes } from "../catalog/ensure-lanes.js";
import { laneNameOf, refuseUnusable } from "../catalog/lane-name.js";
import { announceStored, type MadeRun } from "./announce-stored.js";
import type { EnqueuedRun } from "./enqueue.js";
import type { QueueCache } from "../catalog/queues.js";
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
import type { DedupeOutcome } from "./dedupe/dedupe-rounds.js";
import { planRun, type RunPlace, type RunPlanner } from "./plan-run.js";

export interface RunEnqueuerOptions extends RunPlanner {
  readonly lanes: Pick<LaneStore, "ensure" | "known">;
  readonly queues: Pick<QueueCache, "ensure" | "orderOf" | "isKnown">;
  /**
   * Concurrent calls share one statement: those that may start at once, those with a time, those with a dedupe key. The first answers
   * when they were stored, and tells of them itself.
   */
  readonly insertNow: Coalescer<NewRun, Instant>;
  readonly insertRun: Coalescer<NewRun, StoredRun>;
  readonly insertDeduped: Coalescer<DedupedRun, DedupeOutcome>;
  /** Runs of one batch that are stored at a time. */
  readonly chunk: number;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onQueued: (queued: readonly Queued[]) => void;
}

interface Refused {
  readonly error: unknown;
}

interface Planned {
  /** Its place in the answer. */
  readonly index: number;
  readonly spec: EnqueueSpec;
  readonly run: NewRun;
}

/** What became of one request; `made` where this call made the run and is asked what it looks like: of many at once nobody asks. */
export interface Answered {
  readonly id: string;
  readonly isNew: boolean;
  readonly made: MadeRun | null;
}

type Answers = (Answered | Refused)[];

/** Chunks of one call that are written or wait to be. */
const chunksAtATime = 3;

/** Stores runs that are asked for directly and tells whoever hands them out; durable when it returns. */
export class RunEnqueuer {
  readonly #options: RunEnqueuerOptions;
  readonly #preparing = new Map<string, Promise<readonly number[]>>();

  constructor(options: RunEnqueuerOptions) {
    this.#options = options;
  }

  async enqueue(namespaceId: number, spec: EnqueueSpec): Promise<Answered> {
    if (startsAtOnce(spec)) {
      const lane = this.#knownLane(namespaceId, spec) ?? (await this.prepare(namespaceId, [spec]))[0];
      return this.#enqueueNow(namespaceId, lane ?? 0, spec);
    }
    const [one] = await this.#storeChunk(namespaceId, [spec]);
    if (one === undefined) throw new Error("a run was to be stored and no answer came");
    if ("error" in one) throw one.error;
    return one;
  }

  /** Answers in the order of the specs. One that cannot be stored does not keep the others from it. */
  async enqueueMany(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<EnqueuedRun[]> {
    const { chunk } = this.#options;
    const chunks: Promise<Answers>[] = [];
    for (let first = 0; first < specs.length; first += chunk) {
      await chunks.at(-chunksAtATime);
      chunks.push(this.#storeChunk(namespaceId, specs.slice(first, first + chunk)));
    }
    const answers = (await Promise.all(chunks)).flat();
    return answers.map((one) => ("error" in one ? one : { id: one.id, isNew: one.isNew }));
  }

  /** The shortest way: of most calls, all that must be known is known. */
  async #enqueueNow(namespaceId: number, lane: number, spec: EnqueueSpec): Promise<Answered> {
    const run = this.plan({ namespaceId, lane }, spec);
    return answeredNow(run, await this.#options.insertNow.add(run));
  }

  async #storeChunk(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<Answers> {
    const laneIds = await this.prepare(namespaceId, specs);
    const answers: Answers = [];
    const [now, dated, deduped]: [Planned[], Planned[], Planned[]] = [[], [], []];
    for (const [index, spec] of specs.entries()) {
      try {
        const run = this.plan({ namespaceId, lane: laneIds[index] ?? 0 }, spec);
        const way = startsAtOnce(spec) ? now : spec.dedupe === undefined ? dated : deduped;
        way.push({ index, spec, run });
      } catch (error) {
        if (!(error instanceof CarillonError)) throw error;
        answers[index] = { error };
      }
    }
    await Promise.all([
      this.#storeNow(now, answers),
      this.#storeDated(dated, answers),
      this.#storeDeduped(deduped, answers),
    ]);
    return answers;
  }

  plan(place: RunPlace, spec: EnqueueSpec): NewRun {
    refuseUnusable(spec, this.#options.queues.orderOf(place.namespaceId, spec.queue));
    return planRun(place, spec, this.#options);
  }

  async #storeNow(planned: readonly Planned[], answers: Answers): Promise<void> {
    if (planned.length === 0) return;
    const outcomes = await this.#options.insertNow.addAll(planned.map(({ run }) => run));
    eachOutcome(planned, outcomes, answers, ({ run }) => ({ id: run.id, isNew: true, made: null }));
  }

  async #storeDated(planned: readonly Planned[], answers: Answers): Promise<void> {
    if (planned.length === 0) return;
    const outcomes = await this.#options.insertRun.addAll(planned.map(({ run }) => run));
    const made: MadeRun[] = [];
    eachOutcome(planned, outcomes, answers, ({ run }, stored) => {
      made.push({ run, stored });
      return { id: run.id, isNew: true, made: { run, stored } };
    });
    this.#announce(made);
  }

  async #storeDeduped(planned: readonly Planned[], answers: Answers): Promise<void> {
    const runs = planned.flatMap(({ run, spec: { dedupe } }) => (dedupe === undefined ? [] : [{ run, dedupe }]));
    if (runs.length === 0) return;
    const outcomes = await this.#options.insertDeduped.addAll(runs);
    const made: MadeRun[] = [];
    eachOutcome(planned, outcomes, answers, ({ run, spec }, outcome) => {
      if (outcome.kind === "held") {
        const { runId: id } = outcome;
        return spec.dedupe?.on === "reject" ? { error: duplicateOf(spec, id) } : { id, isNew: false, made: null };
      }
      const { stored } = outcome;
      if (stored !== null) made.push({ run, stored });
      return { id: run.id, isNew: true, made: stored && { run, stored } };
    });
    this.#announce(made);
  }

  #announce(made: readonly MadeRun[]): void {
    const { onQueued, onDueRuns } = this.#options;
    announceStored({ runsQueued: onQueued, runsDue: onDueRuns }, made);
  }

  /** null: its queue or its lane may have to be made first. */
  #knownLane(namespaceId: number, spec: EnqueueSpec): number | null {
    const { lanes, queues } = this.#options;
    if (!queues.isKnown(namespaceId, spec.queue)) return null;
    return lanes.known(laneNameOf(spec, queues.orderOf(namespaceId, spec.queue)));
  }

  /**
   * Makes the queues and lanes that are not there yet; answers the lanes. Callers that come together ask once: before they are known,
   * each would take a connection for it.
   */
  prepare(namespaceId: number, specs: readonly EnqueueSpec[]): Promise<readonly number[]> {
    const [spec] = specs;
    if (spec === undefined || specs.length > 1) return ensureLanes(this.#options, namespaceId, specs);
    const { queue, task, policy } = spec;
    const kind = `${policy.guarantee ?? ""}\n${isLimited(policy)}\n${requirementText(policy.requires)}`;
    const name = `${namespaceId}\n${queue}\n${task}\n${kind}`;
    const underWay = this.#preparing.get(name);
    if (underWay !== undefined) return underWay;
    const prepared = ensureLanes(this.#options, namespaceId, specs).finally(() => this.#preparing.delete(name));
    this.#preparing.set(name, prepared);
    return prepared;
  }
}

/** No time of its own, no deadline that counts from it, nobody to be compared with. */
function startsAtOnce({ runAt, dedupe, policy }: EnqueueSpec): boolean {
  return runAt === null && dedupe === undefined && policy.deadlineMs === undefined;
}

function answeredNow(run: NewRun, at: Instant): Answered {
  const stored: StoredRun = { id: run.id, state: "queued", createdAt: at };
  return { id: run.id, isNew: true, made: { run: { ...run, runAt: at, nominal: at }, stored } };
}

function eachOutcome<Out>(
  planned: readonly Planned[],
  outcomes: readonly Outcome<Out>[],
  answers: Answers,
  answer: (planned: Planned, out: Out) => Answered | Refused,
): void {
  for (const [at, one] of planned.entries()) {
    const outcome = outcomes[at];
    if (outcome?.status === "fulfilled") answers[one.index] = answer(one, outcome.value);
    else answers[one.index] = { error: enqueueError(outcome?.reason) };
  }
}

const lockNotAvailable = "55P03";

export function enqueueError(error: unknown): unknown {
  if (sqlStateOf(error) !== lockNotAvailable) return error;
  return new CarillonError("dedupe_busy", "A transaction that is still open asked for a run with this dedupe key.");
}

export function duplicateOf({ task, dedupe }: EnqueueSpec, id: string): CarillonError {
  const what = dedupe?.key === "" ? `the task ${task}` : `the key ${JSON.stringify(dedupe?.key)} of ${task}`;
  return new CarillonError("run_duplicate", `for ${what} the run ${formatId("run", id)} counts`);
}
