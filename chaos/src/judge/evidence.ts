import type { EndEntry, JournalEntry, StartEntry } from "../journal/journal-server.js";
import type { FaultKind } from "../plan/fault.js";
import type { WorkerFaultKind } from "../plan/worker-faults.js";
import type { DependentHistory, JobHistory } from "../targets/job-history.js";
import type { Target } from "../targets/targets.js";

/** A run as the database has it after the drain. */
export interface RunRow {
  readonly id: string;
  readonly job: string;
  readonly nominal: number;
  /** What created it: the schedule, the time of a one-off job, a run-now call, or the end of another run. */
  readonly trigger: string;
  /** `live` for a run that has not ended. */
  readonly status: "succeeded" | "failed" | "cancelled" | "skipped" | "live";
  readonly reason: string | null;
  readonly fence: number;
  readonly losses: number;
  /** The token of the accepted attempt; null if there is none. */
  readonly token: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
}

/** Occurrences that a policy left out, from the first to the last. */
export interface LedgerRow {
  readonly job: string;
  readonly reason: string;
  readonly from: number;
  readonly to: number;
  readonly recordedAt: number;
}

/** A fault as it was injected. `stall`: not injected, the machine gave the harness or a node no CPU time. */
export interface DoneFault {
  readonly kind: FaultKind | WorkerFaultKind | "stall";
  readonly node: number | null;
  readonly from: number;
  readonly until: number;
}

export interface Evidence {
  readonly histories: readonly JobHistory[];
  /** The histories of dependent jobs. */
  readonly dependents: readonly DependentHistory[];
  /** The instants that the histories promise. */
  readonly targets: readonly Target[];
  readonly journal: readonly JournalEntry[];
  readonly runs: readonly RunRow[];
  readonly ledger: readonly LedgerRow[];
  readonly faults: readonly DoneFault[];
  /** How long after a fault its consequences may show: the lease, the worker timeout and a full scan. */
  readonly aftermathMs: number;
}

/** The journal by run and by token. */
export interface JournalView {
  /** In the order in which the work began. */
  startsOf(run: string): readonly StartEntry[];
  endOf(token: number): EndEntry | undefined;
  readonly starts: readonly StartEntry[];
}

export function journalView(entries: readonly JournalEntry[]): JournalView {
  const starts = entries.filter((entry) => entry.event === "start");
  const byRun = groupBy(starts, (start) => start.run);
  const ends = new Map(entries.filter((entry) => entry.event === "end").map((end) => [end.token, end]));
  return { starts, startsOf: (run) => byRun.get(run) ?? [], endOf: (token) => ends.get(token) };
}

/** The items by key, in the given order. */
export function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

export const occurrenceKey = ({ job, nominal }: { job: string; nominal: number }): string => `${job} ${nominal}`;
