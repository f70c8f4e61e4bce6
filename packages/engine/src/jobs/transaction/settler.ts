import { type DurationMs, firingPolicy, type Instant, type OverlapPolicy } from "@carillon/core";
import { type RankRun, rankByPriority } from "../../catalog/rank-run.js";
import type {
  EndedWaiting,
  LedgerEntry,
  LiveRunOfJob,
  MadeJobRun,
  NewJobRun,
  Queryable,
  Queued,
  SettlementReads,
  SettlementWrites,
  Store,
} from "@carillon/store";
import { JobDraft } from "./job-draft.js";

/** What a settlement did, to be told once its transaction has committed. */
export interface Settled {
  /** By run id. */
  readonly made: ReadonlyMap<string, MadeJobRun>;
  /** Those of them that a worker may take now. */
  readonly queued: readonly Queued[];
  /** Runs that waited and were ended. */
  readonly ended: readonly EndedWaiting[];
  /** Running runs that were asked to stop, with the session that holds them. */
  readonly stopped: readonly { id: string; sessionId: string }[];
  readonly entries: readonly LedgerEntry[];
  /** Occurrences that became runs. */
  readonly fires: readonly SettledFire[];
}

export interface SettledFire {
  readonly run: MadeJobRun;
  readonly of: { readonly namespaceId: number; readonly task: string; readonly queue: string };
  readonly nominal: Instant;
  readonly trigger: "schedule" | "after";
  /** The job's class of priority when it was fired. */
  readonly class: number;
  readonly misfireThresholdMs: DurationMs;
}

/** The store with the unit of work over its jobs. */
export interface SettlerStore extends Store {
  readonly settler: Settler;
}

/** Reads locked jobs into drafts and writes the drafts back: a few statements whatever their number. */
export class Settler {
  readonly reads: SettlementReads;
  readonly writes: SettlementWrites;
  readonly #rank: RankRun;

  constructor(reads: SettlementReads, writes: SettlementWrites, rank: RankRun = rankByPriority) {
    this.reads = reads;
    this.writes = writes;
    this.#rank = rank;
  }

  /** Call with the jobs locked. The live runs of jobs that let them overlap are not read: there may be any number. */
  async open(tx: Queryable, jobIds: readonly string[], options: OpenOptions = {}): Promise<JobDraft[]> {
    if (jobIds.length === 0) return [];
    const jobs = await this.reads.read(tx, jobIds, { payload: options.payload ?? false });
    const idsOf = (which: (overlap: OverlapPolicy) => boolean): string[] =>
      jobs.filter((job) => which(job.due.overlap)).map((job) => job.id);
    const replacing = idsOf((overlap) => overlap === "cancel_running");
    const waiting = idsOf((overlap) => overlap !== "cancel_running" && overlap !== "allow");
    const live = byJob([...(await this.#live(tx, replacing, true)), ...(await this.#live(tx, waiting, false))]);
    return jobs.map((job) => new JobDraft(job, live.get(job.id) ?? [], this.#rank));
  }

  /** The live runs of a job that lets them overlap. `hold` keeps them as they are: for a change that ends them. */
  async learnLive(tx: Queryable, draft: JobDraft, options: { hold: boolean }): Promise<void> {
    draft.learnLive(await this.reads.live(tx, [draft.job.id], options));
  }

  /**
   * Writes in this order: a run that is made and replaced in the same settlement is made before it is ended. `insert` is for
   * runs that are not made from their job as it is now.
   */
  async write(tx: Queryable, drafts: readonly JobDraft[], insert?: InsertRuns): Promise<Settled> {
    const runs = drafts.flatMap((draft) => draft.runs);
    const made = new Map((await (insert ?? this.#insert)(tx, runs)).map((run) => [run.id, run]));
    for (const draft of drafts) noteDuplicates(draft, made);
    const ended = await this.writes.endRuns(
      tx,
      drafts.flatMap((draft) => draft.ends),
    );
    const stopped = await this.writes.stopRuns(
      tx,
      drafts.flatMap((draft) => draft.stops),
    );
    const untracked = await this.writes.untrackRuns(
      tx,
      drafts.flatMap((draft) => draft.untracked),
    );
    await this.writes.move(
      tx,
      drafts.map((draft) => ({ jobId: draft.job.id, expectedVersion: draft.job.due.version, due: draft.due })),
    );
    const entries = drafts.flatMap((draft) => draft.entries);
    await this.writes.note(tx, entries);
    const over = new Set(ended.map((run) => run.id));
    const queued = [...made.values()].filter((run) => run.state === "queued" && !over.has(run.id));
    const fires = drafts.flatMap((draft) => firesOf(draft, made));
    return { made, queued: [...queued, ...untracked], ended, stopped, entries, fires };
  }

  readonly #insert: InsertRuns = (tx, runs) => this.writes.insertRuns(tx, runs);

  #live(tx: Queryable, jobIds: readonly string[], hold: boolean): Promise<LiveRunOfJob[]> {
    return jobIds.length === 0 ? Promise.resolve([]) : this.reads.live(tx, jobIds, { hold });
  }
}

type InsertRuns = (tx: Queryable, runs: readonly NewJobRun[]) => Promise<MadeJobRun[]>;

export interface OpenOptions {
  readonly payload?: boolean;
}

/** An occurrence whose run exists already has been fired before; that is worth a line in the ledger. */
function noteDuplicates(draft: JobDraft, made: ReadonlyMap<string, MadeJobRun>): void {
  for (const { id, nominal } of draft.runs) {
    if (!made.has(id)) draft.note({ reason: "duplicate", from: nominal, to: nominal, count: 1 });
  }
}

function firesOf({ job, runs }: JobDraft, made: ReadonlyMap<string, MadeJobRun>): SettledFire[] {
  const { misfireThresholdMs } = firingPolicy(job.firing);
  const of = { namespaceId: job.namespaceId, task: job.task, queue: job.queue };
  return runs.flatMap(({ id, nominal, trigger }) => {
    const run = made.get(id);
    const [kind] = trigger.split(":", 1);
    if (run === undefined || (kind !== "schedule" && kind !== "after")) return [];
    return [{ run, of, nominal, trigger: kind, class: job.due.class, misfireThresholdMs }];
  });
}

function byJob(runs: readonly LiveRunOfJob[]): Map<string, LiveRunOfJob[]> {
  const found = new Map<string, LiveRunOfJob[]>();
  for (const run of runs) {
    const known = found.get(run.jobId);
    if (known === undefined) found.set(run.jobId, [run]);
    else known.push(run);
  }
  return found;
}
