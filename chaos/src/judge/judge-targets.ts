import type { Evidence, LedgerRow, RunRow } from "./evidence.js";
import { groupBy, occurrenceKey } from "./group-by.js";
import { isAllowed } from "./ledger-rules.js";
import type { JournalView } from "./journal-view.js";
import type { Verdict, Violation } from "./verdict.js";

type TargetVerdict = Pick<Verdict, "targets" | "lateMs" | "violations">;

/** Is every promised instant a run whose work was seen, or a ledger entry that the policy allows? */
export function judgeTargets({ jobs, targets, runs, ledger }: Evidence, journal: JournalView): TargetVerdict {
  const jobOf = new Map(jobs.map((job) => [job.key, job]));
  const runsOf = groupBy(runs, (run) => run.job);
  const runsAt = groupBy(runs, occurrenceKey);
  const ledgerOf = groupBy(ledger, (entry) => entry.job);
  const counts = { ok: 0, skipped: 0, optional: 0 };
  const lateMs: number[] = [];
  const violations: Violation[] = [];
  for (const target of targets) {
    const made = runsAt.get(occurrenceKey(target)) ?? [];
    const left = (ledgerOf.get(target.job) ?? []).filter(
      ({ from, to }) => from <= target.nominal && target.nominal <= to,
    );
    const started = made.flatMap((run) => journal.startsOf(run.id)).map((start) => start.at);
    const { job: key, nominal } = target;
    const job = jobOf.get(key);
    if (job === undefined) throw new Error(`the target of an unknown job ${key}`);
    const isExcused = left.some((entry) => isAllowed({ entry, nominal, job, runs: runsOf.get(key) ?? [] }));
    if (made.length === 0 && isExcused) counts.skipped += 1;
    else if (made.length === 0 && !target.required && left.length === 0) counts.optional += 1;
    else {
      const flaw = flawOf(made, left, started.length);
      if (flaw !== null) violations.push({ ...flaw, job: key, nominal });
      else {
        counts.ok += 1;
        if (started.length > 0) lateMs.push(Math.min(...started) - nominal);
      }
    }
  }
  return { targets: counts, lateMs: lateMs.sort((a, b) => a - b), violations };
}

function flawOf(
  made: readonly RunRow[],
  left: readonly LedgerRow[],
  starts: number,
): Pick<Violation, "kind" | "detail"> | null {
  const [run] = made;
  if (run === undefined) {
    const reasons = left.map((entry) => entry.reason).join(", ");
    const detail = left.length === 0 ? "no run and no ledger entry" : `left out without right: ${reasons}`;
    return { kind: "MISSED", detail };
  }
  if (left.length > 0) return { kind: "DOUBLE", detail: "both a run and a ledger entry" };
  if (run.status === "live") return { kind: "UNDONE", detail: "its run did not end within the bound" };
  if (run.status === "succeeded" && starts === 0) return { kind: "MISSED", detail: "its run ended without its work" };
  return null;
}
