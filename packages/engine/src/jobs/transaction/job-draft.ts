import { deadlineOf, type Instant, type LedgerReason, type OverlapPolicy } from "@carillon/core";
import { type RankRun, rankByPriority } from "../../catalog/rank-run.js";
import { decideOverlap, type LiveRun } from "../../schedules/overlap.js";
import { scheduledRunId } from "../../schedules/scheduled-run-id.js";
import type { DueState, LedgerEntry, LockedJob, NewJobRun, NextTime, RunEnd, RunOverrides } from "@carillon/store";

/** A run that somebody or something asks for, before the job's overlap policy has decided over it. */
export interface WantedRun {
  readonly id: string;
  readonly trigger: string;
  readonly nominal: Instant;
  readonly runAt: Instant;
  readonly overrides?: RunOverrides;
  /** The overlap policy does not count. */
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

/** Of the runs that a job had before it kept a list of them, as many enter it: the row of a job stays narrow. */
const mostTracked = 10_000;

const waitingPolicies: ReadonlySet<OverlapPolicy> = new Set(["queue_one", "queue_all", "cancel_running"]);

/**
 * A locked job in memory: what happens to it is gathered here and written as sets at the end. Pure, so that the scheduler
 * and every change treat an occurrence alike.
 */
export class JobDraft {
  readonly job: LockedJob;
  readonly runs: NewJobRun[] = [];
  readonly ends: RunEnd[] = [];
  readonly stops: RunEnd[] = [];
  /** Runs that nobody counts any more; those of them that wait may start. */
  readonly untracked: string[] = [];
  readonly entries: LedgerEntry[] = [];
  readonly #rank: RankRun;
  #due: DueState;
  #live: readonly LiveRun[];

  /** `live` may be left empty for a job that lets its runs overlap. */
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

  /** Whether the next occurrence has come by the database's clock. */
  get isDue(): boolean {
    const { state, nominal, fireAt } = this.#due;
    return state === "active" && nominal !== null && fireAt !== null && fireAt <= this.job.now;
  }

  /** Makes the run of the due occurrence, or notes why there is none; goes on to the next. */
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

  /** Lets the overlap policy decide over a run. Does not move the schedule. */
  place(wanted: WantedRun): Placed {
    const { overlap } = this.#due;
    const decision = wanted.force === true ? { kind: "start" as const } : decideOverlap(overlap, this.#live);
    if (decision.kind === "refuse") return "refused";
    if (decision.kind === "replace") this.#replace(decision.end, decision.stop);
    const mustWait = decision.kind === "wait" || (decision.kind === "replace" && decision.stop.length > 0);
    const state = mustWait ? "blocked" : "queued";
    const { id, trigger, nominal, runAt, overrides = {} } = wanted;
    // What the schedule did not ask for is as old as the asking.
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

  /** Adds a range of its own to the ledger; the one that is open stays open. */
  noteApart({ reason, from, to, count, detail = null }: LedgerNote): void {
    const { id: jobId, namespaceId } = this.job;
    this.entries.push({ jobId, namespaceId, version: this.#due.version, reason, from, to, count, detail });
  }

  /** Adds to the ledger; the range that is open grows while the reason stays the same. */
  note({ reason, from, to, count, detail = null }: LedgerNote): void {
    const { version, ledgerFrom, ledgerReason } = this.#due;
    const begin = ledgerReason === reason && ledgerFrom !== null && ledgerFrom <= from ? ledgerFrom : from;
    const { id: jobId, namespaceId } = this.job;
    this.entries.push({ jobId, namespaceId, version, reason, from: begin, to, count, detail });
    this.set({ ledgerFrom: begin, ledgerReason: reason });
  }

  /** Everything up to `through` is settled. A job with nothing left, or with all its runs made, is completed. */
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

  /** Ends what waits and asks what runs to stop, except those that are kept. Needs the live runs held. */
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

  /** The stored runs that are live, read again or for the first time; those of this draft stay. */
  learnLive(stored: readonly LiveRun[]): void {
    const ended = new Set(this.ends.map((run) => run.id));
    const made = this.runs.map(({ id, state }) => ({ id, status: state }));
    this.#live = [...stored, ...made].filter((run) => !ended.has(run.id));
  }

  /**
   * From now on the job keeps a list of its runs, or none but the newest: then nothing waits for them any more. Needs the
   * live runs.
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
    this.set({ overlap, runIds: [...kept.slice(-mostTracked), ...last] });
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
