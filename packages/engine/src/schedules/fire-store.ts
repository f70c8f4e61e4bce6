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

/** What became of the rows of a fire whose runs may end others. */
export interface Replaced {
  readonly fired: readonly Fired[];
  /** Running runs that were asked to stop. */
  readonly stopped: readonly string[];
  /** Waiting runs that were ended. */
  readonly ended: readonly Omit<EndedRun, "freedJobId">[];
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
  /** Returns the jobs that are quarantined now. */
  quarantine(fence: Fence, rows: readonly QuarantineRow[]): Promise<string[]>;
  windows(): Promise<WindowsInForce>;
  loadRuns(shards: readonly number[], until: Instant, limitPerShard: number): Promise<DueRun[]>;
  promote(fence: Fence, ids: readonly string[], aheadMs?: DurationMs): Promise<PromotedRun[]>;
}
