import { type Instant, type MaintenanceWindow, occurrenceRunId, type OverlapPolicy } from "@carillon/core";
import type {
  DueJob,
  DueRun,
  DueState,
  Fence,
  FireRow,
  FireStore,
  HoldRow,
  LedgerRange,
  PassRow,
  Terms,
} from "@carillon/engine";

/** What a test says of a job; the rest has a default. It is due since a few minutes unless said otherwise. */
export interface JobWish {
  readonly dueAt?: Instant;
  readonly overlap?: OverlapPolicy;
  readonly maxRuns?: number;
  readonly shard?: number;
  readonly class?: number;
}

export interface LiveRunView {
  readonly id: string;
  readonly state: string;
  readonly nominal: Instant;
  readonly runAt: Instant;
  readonly task: string;
  readonly payload: unknown;
  readonly version: number | null;
  readonly serial: boolean;
  readonly untracked: boolean;
  readonly cancelReason: string | null;
}

export interface EndedRunView {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
}

export type RangeView = LedgerRange & { readonly version: number };

/** One adapter, with what a test needs to set its rows and to look at them. */
export interface FireStoreUnderTest {
  readonly store: FireStore;
  /** Not after the store's clock. */
  readonly now: () => Instant;
  /** Takes every shard for a new node; fences that were given before hold no more. */
  readonly takeAll: () => Promise<Fence>;
  /** Stores a job that recurs each minute, with task echo and payload {n: 1}; answers it as the wheel would hold it. */
  readonly job: (wish?: JobWish) => Promise<DueJob>;
  readonly due: (jobId: string) => Promise<DueState>;
  /** Sets the row as nothing in the product does. */
  readonly setDue: (jobId: string, change: Partial<DueState>) => Promise<void>;
  /** By their instants. */
  readonly runs: (jobId: string) => Promise<readonly LiveRunView[]>;
  readonly ended: (jobId: string) => Promise<readonly EndedRunView[]>;
  /** By their beginnings. */
  readonly ledger: (jobId: string) => Promise<readonly RangeView[]>;
  /** Stores a run that waits for its time. */
  readonly delayedRun: (runAt: Instant) => Promise<DueRun>;
  readonly startRun: (id: string) => Promise<void>;
  /** As if its worker had completed it. */
  readonly finishRun: (id: string) => Promise<void>;
  /** Somebody else holds the rows of these jobs or runs while the work goes on. */
  readonly holding: <Result>(ids: readonly string[], work: () => Promise<Result>) => Promise<Result>;
  /** Puts other maintenance windows in force, in the namespace "default"; answers the new revision. */
  readonly setWindows: (windows: readonly MaintenanceWindow[]) => Promise<number>;
  readonly close: () => Promise<void>;
}

export const minute = 60_000;

/** The job's next occurrence as a run; after it comes the one of the next minute unless said otherwise. */
export function fireOf(job: DueJob, over: Partial<FireRow> = {}): FireRow {
  const runId = occurrenceRunId(job.jobId, job.nominal, "schedule");
  return { job, runId, rank: job.fireAt, next: minuteAfter(job.nominal), catchUpTo: null, notes: [], ...over };
}

/** So many occurrences, the due one first, that go to the ledger. */
export function passOf(job: DueJob, count = 1, over: Partial<LedgerRange> = {}): PassRow {
  const to = job.nominal + (count - 1) * minute;
  const range = { reason: "missed", from: job.nominal, to, count, detail: null, ...over } as const;
  return { job, range, next: minuteAfter(to), catchUpTo: null, notes: [] };
}

export function holdOf(job: DueJob, until: Instant): HoldRow {
  return { job, until };
}

function minuteAfter(at: Instant): FireRow["next"] {
  return { nominal: at + minute, fireAt: at + minute };
}

/** The job after so many of its minutes were settled, as a wheel holds it that saw that. */
export function later(job: DueJob, minutes: number, runsMade: number): DueJob {
  const nominal = job.nominal + minutes * minute;
  return { ...job, nominal, fireAt: nominal, settledTo: nominal - minute, runsMade };
}

/** Under the windows in force. */
export async function termsOf(store: FireStore, fence: Fence): Promise<Terms> {
  return { fence, windows: (await store.windows()).revision };
}
