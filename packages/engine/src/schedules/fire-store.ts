import type { DurationMs, Instant } from "@carillon/core";
import type {
  DueJob,
  DueRun,
  EndedRun,
  Fence,
  Fired,
  FireRow,
  HoldRow,
  QuarantineRow,
  PassRow,
  PromotedRun,
  Terms,
  WindowsInForce,
} from "@carillon/store";

/** The outcomes of rows whose runs may end others. */
export interface Replaced {
  readonly fired: readonly Fired[];
  /** Running runs that are requested to stop. */
  readonly stopped: readonly string[];
  /** Waiting runs that were ended. */
  readonly ended: readonly Omit<EndedRun, "freedJobId">[];
}

/**
 * The scheduler's port to the store. Reads are hints; a write compares its arguments with the rows as they are, does all or nothing for each
 * row, and returns those that it did.
 */
export interface FireStore {
  load(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueJob[]>;
  /** For jobs whose overlap policy is allow or skip. */
  fire(terms: Terms, rows: readonly FireRow[]): Promise<Fired[]>;
  /** For jobs whose runs wait for one another or replace one another. */
  settle(terms: Terms, rows: readonly FireRow[]): Promise<Replaced>;
  /** Returns the jobs that were moved. */
  pass(terms: Terms, rows: readonly PassRow[]): Promise<string[]>;
  /** Returns the jobs that wait now. */
  hold(terms: Terms, rows: readonly HoldRow[]): Promise<string[]>;
  /** Makes occurrences due again that wait for windows of another revision; returns their shards. */
  release(terms: Terms): Promise<number[]>;
  /** Returns the jobs that are quarantined now. */
  quarantine(fence: Fence, rows: readonly QuarantineRow[]): Promise<string[]>;
  windows(): Promise<WindowsInForce>;
  loadRuns(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
}
