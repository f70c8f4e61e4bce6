import type {
  DurationMs,
  FiringPolicy,
  Instant,
  JobPause,
  LedgerReason,
  MaintenanceWindow,
  ScheduleSpec,
} from "@carillon/core";
import type { EndedRun } from "../store/entities/ended-runs.js";
import type { Fence } from "../store/entities/fence.js";
import type { DueRun, PromotedRun, Queued } from "../store/entities/runs.js";
import type { NextTime } from "./plan-due.js";

/** What the scheduler needs to know of a definition. Equal ones may be one object. */
export interface DueDefinition {
  readonly namespaceId: number;
  readonly schedule: ScheduleSpec;
  readonly firing: FiringPolicy;
  readonly priority: number;
  readonly task: string;
  readonly queue: string;
  readonly labels: Readonly<Record<string, string>>;
  /** From the nominal instant on; for a queue that goes by deadlines. */
  readonly deadlineMs?: DurationMs;
}

/** A job's next occurrence, as the wheel holds it. Stale the moment it is read: whatever acts on it compares again. */
export interface DueJob {
  readonly jobId: string;
  readonly shard: number;
  readonly class: number;
  /** paused: what is due is the end of the pause, which `nominal` and `fireAt` both are. */
  readonly state: "active" | "paused";
  readonly version: number;
  readonly nominal: Instant;
  readonly fireAt: Instant;
  /** Up to here every occurrence has its run or its entry in the ledger, or another definition was in force. */
  readonly settledTo: Instant;
  /** Occurrences up to here are fired however late they are. */
  readonly catchUpTo: Instant | null;
  readonly runsMade: number;
  readonly definition: DueDefinition;
}

/** Occurrences without a run, from the first to the last, both included. */
export interface LedgerRange {
  readonly reason: LedgerReason;
  readonly from: Instant;
  readonly to: Instant;
  readonly count: number;
  readonly detail: string | null;
}

/** Where a job goes after an occurrence (null: nothing is left to fire), and what else is to be noted with it. */
interface Step {
  readonly job: DueJob;
  readonly next: NextTime | null;
  /** From now on; null leaves what is stored. */
  readonly catchUpTo: Instant | null;
  readonly notes: readonly LedgerRange[];
}

/** One occurrence to become a run. */
export interface FireRow extends Step {
  readonly runId: string;
  readonly rank: number;
}

/** Occurrences that are not fired; `range` begins with the one that is due. */
export interface PassRow extends Step {
  readonly range: LedgerRange;
}

/** An occurrence that waits. */
export interface HoldRow {
  readonly job: DueJob;
  readonly until: Instant;
}

/** A job that cannot be fired. */
export interface ParkRow {
  readonly job: DueJob;
  readonly pause: JobPause;
}

/** fired: its run is queued; blocked: its run waits for others; overlap, duplicate: none was made, the ledger says so. */
export type FireOutcome = "fired" | "blocked" | "overlap" | "duplicate";

/** What became of one row of a fire; a row that is not answered was not due, locked, changed or fenced off. */
export interface Fired {
  readonly jobId: string;
  readonly outcome: FireOutcome;
  /** The run that was made; null when there is none. */
  readonly run: (Queued & { readonly createdAt: Instant }) | null;
  /** max_runs was reached: the job has nothing left to fire. */
  readonly isLast: boolean;
  readonly runsMade: number;
}

/** What became of the rows of a fire whose runs may end others. */
export interface Replaced {
  readonly fired: readonly Fired[];
  /** Running runs that were asked to stop. */
  readonly stopped: readonly string[];
  /** Waiting runs that were ended. */
  readonly ended: readonly Omit<EndedRun, "freedJobId">[];
}

/** The maintenance windows of one namespace; `namespace` is its name. */
export interface NamespaceWindows {
  readonly namespace: string;
  readonly windows: readonly MaintenanceWindow[];
}

/** All maintenance windows, by the id of their namespace. The revision grows with every change of any. */
export interface WindowsInForce {
  readonly revision: number;
  readonly byNamespace: ReadonlyMap<number, NamespaceWindows>;
}

/** What every decision over due jobs was made under; a write that finds it changed does nothing. */
export interface Terms {
  readonly fence: Fence;
  /** The revision of the maintenance windows. */
  readonly windows: number;
  /** When it was decided that something is late or has to wait; a store whose clock is well before it passes and holds nothing. */
  readonly asOf?: Instant;
}

/**
 * What the scheduler asks of the store. Reads are hints; a write compares what it was told with the rows as they are, does
 * all or nothing for each of them, and answers those that it did.
 */
export interface FireStore {
  load(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueJob[]>;
  /** For jobs whose overlap policy is allow or skip. */
  fire(terms: Terms, rows: readonly FireRow[]): Promise<Fired[]>;
  /** For jobs whose runs wait for one another or replace one another. */
  settle(terms: Terms, rows: readonly FireRow[]): Promise<Replaced>;
  /** Answers the jobs that were moved. */
  pass(terms: Terms, rows: readonly PassRow[]): Promise<string[]>;
  /** Answers the jobs that wait now. */
  hold(terms: Terms, rows: readonly HoldRow[]): Promise<string[]>;
  /** Makes due again what waits because of windows of another revision; answers in which shards. */
  release(terms: Terms): Promise<number[]>;
  /** Answers the jobs that are parked now. */
  park(fence: Fence, rows: readonly ParkRow[]): Promise<string[]>;
  windows(): Promise<WindowsInForce>;
  loadRuns(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
}
