import type { JobHistory } from "../targets/job-history.js";
import type { Target } from "../targets/targets.js";
import { mayBeLost } from "./causes.js";
import { type Evidence, type JournalView, type LedgerRow, type RunRow, groupBy, occurrenceKey } from "./evidence.js";
import { isRunNow } from "./judge-runs.js";
import { isAllowed } from "./ledger-rules.js";
import type { Verdict, Violation } from "./verdict.js";

type TargetVerdict = Pick<Verdict, "targets" | "lateMs" | "violations">;

/**
 * Checks that every promised instant is a run whose work the journal recorded, or a ledger entry that the policy
 * allows.
 */
export function judgeTargets(evidence: Evidence, journal: JournalView): TargetVerdict {
  const { histories, targets, runs, ledger } = evidence;
  const historyOf = new Map(histories.map((history) => [history.job.key, history]));
  const runsOf = groupBy(runs, (run) => run.job);
  const runsAt = groupBy(
    runs.filter((run) => !isRunNow(run)),
    occurrenceKey,
  );
  const ledgerOf = groupBy(ledger, (entry) => entry.job);
  const begunAt = (run: RunRow): number | null => {
    const starts = journal.startsOf(run.id);
    // A start that a failover lost did not happen for the product: the run waits until its next start.
    return starts.find((start, index) => index === starts.length - 1 || !mayBeLost(evidence, start.at))?.at ?? null;
  };
  const counts = { ok: 0, skipped: 0, optional: 0 };
  const lateMs: number[] = [];
  const violations: Violation[] = [];
  for (const target of targets) {
    const { job, nominal } = target;
    const history = historyOf.get(job);
    if (history === undefined) throw new Error(`A target belongs to the unknown job ${job}.`);
    const made = runsAt.get(occurrenceKey(target)) ?? [];
    const left = (ledgerOf.get(job) ?? []).filter(({ from, to }) => from <= nominal && nominal <= to);
    const isExcused = left.some(
      (entry) =>
        entry.reason === target.fate ||
        // A range of missed occurrences may extend into a window.
        (target.fate !== "paused" && isAllowed({ entry, nominal, history, runs: runsOf.get(job) ?? [], begunAt })),
    );
    if (made.length === 0 && isExcused) counts.skipped += 1;
    else if (made.length === 0 && !target.required && left.length === 0) counts.optional += 1;
    else {
      const started = made.flatMap((run) => journal.startsOf(run.id)).map((start) => start.at);
      const flaw = flawOf(target, { made, left, starts: started.length });
      if (flaw !== null) violations.push({ ...flaw, job, nominal });
      else {
        counts.ok += 1;
        if (started.length > 0 && countsForLateness(target, history)) lateMs.push(Math.min(...started) - nominal);
      }
    }
  }
  return { targets: counts, lateMs: lateMs.sort((a, b) => a - b), violations };
}

/** Whether the lateness measures the scheduler: no pause, window or overlap policy delayed the run. */
const countsForLateness = ({ isLate }: Target, { job }: JobHistory): boolean =>
  !isLate && (job.overlap === "allow" || job.overlap === "skip");

interface Seen {
  readonly made: readonly RunRow[];
  readonly left: readonly LedgerRow[];
  readonly starts: number;
}

function flawOf({ fate }: Target, { made, left, starts }: Seen): Pick<Violation, "kind" | "detail"> | null {
  const [run] = made;
  if (run === undefined) {
    const reasons = left.map((entry) => entry.reason).join(", ");
    const detail =
      left.length === 0 ? "no run and no ledger entry" : `left out without a reason that its policy allows: ${reasons}`;
    return { kind: "MISSED", detail };
  }
  if (fate === "paused") return { kind: "UNEXPECTED", detail: "it ran although it is inside a pause" };
  if (fate === "window") return { kind: "UNEXPECTED", detail: "it ran although it is inside a maintenance window" };
  if (left.length > 0) return { kind: "DOUBLE", detail: "both a run and a ledger entry" };
  if (run.status === "live") return { kind: "UNDONE", detail: "its run did not end within the bound" };
  if (run.status === "succeeded" && starts === 0) return { kind: "MISSED", detail: "its run ended without its work" };
  return null;
}
