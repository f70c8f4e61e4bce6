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

/** The members of a job that a test sets. By default it has been due for a few minutes. */
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

/** An adapter, with functions to set and read its rows. */
export interface FireStoreUnderTest {
  readonly store: FireStore;
  /** Not after the clock of the store. */
  readonly now: () => Instant;
  /** Takes every shard for a new node; earlier fences are void. */
  readonly takeAll: () => Promise<Fence>;
  /** Stores a job that recurs each minute, with task echo and payload {n: 1}; returns it as the wheel would hold it. */
  readonly job: (wish?: JobWish) => Promise<DueJob>;
  readonly due: (jobId: string) => Promise<DueState>;
  /** Sets the row directly. */
  readonly setDue: (jobId: string, change: Partial<DueState>) => Promise<void>;
  /** In the order of their instants. */
  readonly runs: (jobId: string) => Promise<readonly LiveRunView[]>;
  readonly ended: (jobId: string) => Promise<readonly EndedRunView[]>;
  /** In the order of their beginnings. */
  readonly ledger: (jobId: string) => Promise<readonly RangeView[]>;
  /** Stores a run that waits for its time. */
  readonly delayedRun: (runAt: Instant) => Promise<DueRun>;
  readonly startRun: (id: string) => Promise<void>;
  /** Ends the run as its worker would. */
  readonly finishRun: (id: string) => Promise<void>;
  /** Another transaction locks the rows of these jobs or runs during the work. */
  readonly holding: <Result>(ids: readonly string[], work: () => Promise<Result>) => Promise<Result>;
  /** Puts other maintenance windows in force, in the namespace "default"; returns the new revision. */
  readonly setWindows: (windows: readonly MaintenanceWindow[]) => Promise<number>;
  readonly close: () => Promise<void>;
}

export const minute = 60_000;

/** The next occurrence of the job as a run; by default the following one is a minute later. */
export function fireOf(job: DueJob, over: Partial<FireRow> = {}): FireRow {
  const runId = occurrenceRunId(job.jobId, job.nominal, "schedule");
  return { job, runId, rank: job.fireAt, next: minuteAfter(job.nominal), catchUpTo: null, notes: [], ...over };
}

/** `count` occurrences from the due one on, as a ledger range. */
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

/** The job as a wheel holds it after this many minutes were settled. */
export function later(job: DueJob, minutes: number, runsMade: number): DueJob {
  const nominal = job.nominal + minutes * minute;
  return { ...job, nominal, fireAt: nominal, settledTo: nominal - minute, runsMade };
}

/** Terms under the current maintenance windows. */
export async function termsOf(store: FireStore, fence: Fence): Promise<Terms> {
  return { fence, windows: (await store.windows()).revision };
}
