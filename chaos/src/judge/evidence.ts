import type { EndEntry, JournalEntry, StartEntry } from "../journal/journal-server.js";
import type { FaultKind } from "../plan/fault.js";
import type { WorkerFaultKind } from "../plan/worker-faults.js";
import type { DependentHistory, JobHistory } from "../targets/job-history.js";
import type { Target } from "../targets/targets.js";

/** A run as the database has it in the end. */
export interface RunRow {
  readonly id: string;
  readonly job: string;
  readonly nominal: number;
  /** What made it: the schedule, the one time of a job, a call that asked for it, or the end of another run. */
  readonly trigger: string;
  /** `live` for one that has not ended. */
  readonly status: "succeeded" | "failed" | "cancelled" | "skipped" | "live";
  readonly reason: string | null;
  readonly fence: number;
  readonly losses: number;
  /** The answer of the try that was accepted; null where there is none. */
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

/** A fault as it was done. `stall`: nobody's fault, the machine itself stood still or had no time for us. */
export interface DoneFault {
  readonly kind: FaultKind | WorkerFaultKind | "stall";
  readonly node: number | null;
  readonly from: number;
  readonly until: number;
}

export interface Evidence {
  readonly histories: readonly JobHistory[];
  /** Of jobs that start after others. */
  readonly dependents: readonly DependentHistory[];
  /** What the histories promised. */
  readonly targets: readonly Target[];
  readonly journal: readonly JournalEntry[];
  readonly runs: readonly RunRow[];
  readonly ledger: readonly LedgerRow[];
  readonly faults: readonly DoneFault[];
  /** How long after a fault its consequences may show: lease, silence of a worker, and a look around. */
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

/** What is alike by a key, in the order given. */
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
