import { deadlineOf, type Instant, type LedgerReason, type OverlapPolicy, scheduledRunId } from "@carillon/core";
import type {
  DueState,
  LedgerCut,
  LedgerEntry,
  LedgerEntryKey,
  LockedJob,
  NewJobRun,
  NextTime,
  RunEnd,
  RunOverrides,
} from "@carillon/store";
import { rankByPriority, type RankRun } from "../../catalog/rank-run.js";
import { decideOverlap, type LiveRun } from "../../schedules/overlap.js";

/** A requested run, before the job's overlap policy has decided about it. */
export interface RequestedRun {
  readonly id: string;
  readonly trigger: string;
  readonly nominal: Instant;
  readonly runAt: Instant;
  readonly overrides?: RunOverrides;
  /** The overlap policy is ignored. */
  readonly force?: boolean;
}

export type Placed = "queued" | "blocked" | "refused";

export interface LedgerNote {
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail?: string | null;
}

const nothingAhead: readonly LedgerEntryKey[] = [];

/** A job that begins to list its runs takes at most so many older ones into the list: its row stays narrow. */
const maxTracked = 10_000;

const waitingPolicies: ReadonlySet<OverlapPolicy> = new Set(["queue_one", "queue_all", "cancel_running"]);

/**
 * A locked job in memory. Its changes gather here and are written as sets at the end. Pure, so that the scheduler and every change decide
 * about an occurrence in the same way.
 */
export class JobDraft {
  readonly job: LockedJob;
  readonly runs: NewJobRun[] = [];
  readonly ends: RunEnd[] = [];
  readonly stops: RunEnd[] = [];
  /** Runs that leave the list of the job's runs; the waiting ones among them may start. */
  readonly untracked: string[] = [];
  readonly entries: LedgerEntry[] = [];
  /** Stored entries of the ledger that become shorter. */
  readonly cuts: LedgerCut[] = [];
  readonly #rank: RankRun;
  #due: DueState;
  #live: readonly LiveRun[];
  #ahead: readonly LedgerEntryKey[] = nothingAhead;

  /** `live` may be left empty for a job that allows overlap. */
  constructor(job: LockedJob, live: readonly LiveRun[], rank: RankRun = rankByPriority) {
    this.job = job;
    this.#rank = rank;
    this.#due = job.due;
    this.#live = live;
  }

  get due(): DueState {
    return this.#due;
  }

  get live(): readonly LiveRun[] {
    return this.#live;
  }

  /** Whether the next occurrence is due by the database's clock. */
  get isDue(): boolean {
    const { state, nominal, fireAt } = this.#due;
    return state === "active" && nominal !== null && fireAt !== null && fireAt <= this.job.now;
  }

  /** Makes the run of the due occurrence, or adds to the ledger why there is none; moves to the next. */
  fire(next: NextTime | null): Placed {
    const { nominal, fireAt } = this.#due;
    if (nominal === null || fireAt === null) throw new Error(`job ${this.job.id} has no occurrence to fire`);
    const { id: jobId, schedule } = this.job;
    const id = scheduledRunId({ jobId, schedule, nominal, runsMade: this.#due.runsMade });
    const placed = this.place({ id, trigger: "schedule", nominal, runAt: fireAt });
    if (placed === "refused") this.note({ reason: "overlap", from: nominal, to: nominal, count: 1 });
    else this.set({ firedCount: this.#due.firedCount + 1, ledgerFrom: null, ledgerReason: null });
    this.moveTo(nominal, next);
    return placed;
  }

  /** Lets the overlap policy decide about a run. Does not move the schedule. */
  place(requested: RequestedRun): Placed {
    const { overlap } = this.#due;
    const decision = requested.force === true ? { kind: "start" as const } : decideOverlap(overlap, this.#live);
    if (decision.kind === "refuse") return "refused";
    if (decision.kind === "replace") this.#replace(decision.end, decision.stop);
    const mustWait = decision.kind === "wait" || (decision.kind === "replace" && decision.stop.length > 0);
    const state = mustWait ? "blocked" : "queued";
    const { id, trigger, nominal, runAt, overrides = {} } = requested;
    // A deadline counts from the nominal time, or from the request where the schedule did not request the run.
    const deadline = deadlineOf(overrides.policy ?? this.job.policy, trigger === "schedule" ? nominal : runAt);
    const rank = this.#rankOf(runAt, deadline, overrides);
    const [serial, untracked] = [waitingPolicies.has(overlap), overlap === "allow"];
    const made = { id, jobId: this.job.id, state, rank, runAt, nominal, trigger, serial, untracked, deadline } as const;
    this.runs.push({ ...made, overrides });
    this.#live = [...this.#live, { id, status: state }];
    const runIds = untracked ? [id] : [...this.#kept(), id];
    this.set({ runsMade: this.#due.runsMade + 1, runIds });
    return state;
  }

  #rankOf(dueMs: Instant, deadline: Instant | null, overrides: RunOverrides): number {
    const { namespaceId, task } = this.job;
    const { queue = this.job.queue, priority = this.job.priority } = overrides;
    return this.#rank({ namespaceId, queue, task, dueMs, priority, deadlineMs: deadline ?? undefined });
  }

  /** Adds a separate range to the ledger; the open range stays open. */
  noteApart({ reason, from, to, count, detail = null }: LedgerNote, version = this.#due.version): void {
    const { id: jobId, namespaceId } = this.job;
    this.entries.push({ jobId, namespaceId, version, reason, from, to, count, detail });
  }

  /** Sets the stored entries of the ledger that reach past now. */
  setAhead(stored: readonly LedgerEntryKey[]): void {
    this.#ahead = stored;
  }

  /**
   * Ends the entries of removed instants at now, those that are stored and those of this draft. `remainderOf` counts the removed instants from
   * the begin of an entry up to now; null: there are none.
   */
  cutAhead(remainderOf: (from: Instant) => Pick<LedgerEntry, "to" | "count"> | null): void {
    for (const { jobId, version, reason, from } of this.#ahead) {
      const { to, count } = remainderOf(from) ?? { to: from, count: 0 };
      this.cuts.push({ jobId, version, reason, from, to, count });
    }
    this.#ahead = nothingAhead;
    for (const entry of this.entries.splice(0)) {
      const isAhead = entry.reason === "calendar" && entry.to > this.job.now;
      const remainder = isAhead ? remainderOf(entry.from) : entry;
      if (remainder !== null) this.entries.push({ ...entry, to: remainder.to, count: remainder.count });
    }
  }

  /** Adds to the ledger; the open range grows while the reason stays the same. */
  note({ reason, from, to, count, detail = null }: LedgerNote): void {
    const { version, ledgerFrom, ledgerReason } = this.#due;
    const begin = ledgerReason === reason && ledgerFrom !== null && ledgerFrom <= from ? ledgerFrom : from;
    const { id: jobId, namespaceId } = this.job;
    this.entries.push({ jobId, namespaceId, version, reason, from: begin, to, count, detail });
    this.set({ ledgerFrom: begin, ledgerReason: reason });
  }

  /** Every occurrence up to `through` is decided. A job without another occurrence, or with all its runs made, is completed. */
  moveTo(through: Instant, next: NextTime | null): void {
    const { firedThrough, firedCount, maxRuns, catchUpTo } = this.#due;
    const isOver = next === null || (maxRuns !== null && firedCount >= maxRuns);
    this.set({
      firedThrough: Math.max(firedThrough ?? through, through),
      nominal: isOver ? null : next.nominal,
      fireAt: isOver ? null : next.fireAt,
      state: isOver ? "completed" : this.#due.state,
      catchUpTo: isOver || (catchUpTo !== null && next.nominal > catchUpTo) ? null : catchUpTo,
      stateReason: null,
    });
  }

  /** Ends the waiting runs and, unless they are kept, requests the running ones to stop. The live runs must be locked. */
  end(reason: string, options: { keepRunning: boolean }): void {
    const running = this.#live.filter((run) => run.status === "running");
    const waiting = this.#live.filter((run) => run.status !== "running");
    this.ends.push(...waiting.map(({ id }) => ({ id, reason })));
    if (!options.keepRunning) this.stops.push(...running.map(({ id }) => ({ id, reason })));
    this.#live = running;
    this.set({ runIds: this.#keptWithNewest() });
  }

  set(change: Partial<DueState>): void {
    this.#due = { ...this.#due, ...change };
  }

  /** Sets the stored live runs; those that this draft made stay, those that it ended go. */
  setLive(stored: readonly LiveRun[]): void {
    const ended = new Set(this.ends.map((run) => run.id));
    const made = this.runs.map(({ id, state }) => ({ id, status: state }));
    this.#live = [...stored, ...made].filter((run) => !ended.has(run.id));
  }

  /**
   * From now on the job lists its runs, or only the newest one: then no run waits for them any more. The live runs must be set.
   */
  track(overlap: OverlapPolicy): void {
    const newest = this.#due.runIds.at(-1);
    const last = newest === undefined ? [] : [newest];
    if (overlap === "allow") {
      this.untracked.push(...this.#live.map((run) => run.id));
      this.set({ overlap, runIds: last });
      return;
    }
    const kept = this.#live.map((run) => run.id).filter((id) => id !== newest);
    this.set({ overlap, runIds: [...kept.slice(-maxTracked), ...last] });
  }

  #replace(end: readonly string[], stop: readonly string[]): void {
    const reason = "cancelled_by_overlap";
    this.ends.push(...end.map((id) => ({ id, reason })));
    this.stops.push(...stop.map((id) => ({ id, reason })));
    this.#live = this.#live.filter((run) => !end.includes(run.id));
  }

  #kept(): string[] {
    const live = new Set(this.#live.map((run) => run.id));
    return this.#due.runIds.filter((id) => live.has(id));
  }

  #keptWithNewest(): string[] {
    const newest = this.#due.runIds.at(-1);
    const kept = this.#kept();
    return newest === undefined || kept.includes(newest) ? kept : [...kept, newest];
  }
}
