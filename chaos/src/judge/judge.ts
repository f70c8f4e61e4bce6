import type { JobHistory } from "../targets/job-history.js";
import { type Target, chooseTimeline } from "../targets/targets.js";
import { type Evidence, groupBy, journalView, occurrenceKey } from "./evidence.js";
import { judgeDependents } from "./judge-dependents.js";
import { judgeOverlaps } from "./judge-overlaps.js";
import { isUnrequested, judgeRuns } from "./judge-runs.js";
import { judgeTargets } from "./judge-targets.js";
import type { Verdict } from "./verdict.js";

/** Compares the promised instants with the journal and the database. Trusts only the first two. */
export function judge(evidence: Evidence): Verdict {
  const journal = journalView(evidence.journal);
  const targets = judgeTargets(evidence, journal);
  const runs = judgeRuns(evidence, journal);
  const { upstreamEnds, violations: lost } = judgeDependents(evidence, journal);
  const violations = [...targets.violations, ...runs.violations, ...lost, ...judgeOverlaps(evidence, journal)];
  return { targets: targets.targets, upstreamEnds, runs: runs.runs, lateMs: targets.lateMs, violations };
}

/** The targets of all jobs, each from the timeline that fits the evidence best. */
export function resolveTargets(histories: readonly JobHistory[], seen: Omit<Evidence, "targets">): Target[] {
  const journal = journalView(seen.journal);
  const runsOf = groupBy(seen.runs, (run) => run.job);
  const ledgerOf = groupBy(seen.ledger, (entry) => entry.job);
  return histories.flatMap((history) => {
    const runs = runsOf.get(history.job.key) ?? [];
    const ledger = ledgerOf.get(history.job.key) ?? [];
    return chooseTimeline(history, (targets) => {
      const promised = new Set(targets.map(occurrenceKey));
      const evidence = { ...seen, histories: [history], runs, ledger, targets };
      const unrequested = runs.filter((run) => isUnrequested(run, promised, { history, journal })).length;
      return judgeTargets(evidence, journal).violations.length + unrequested;
    });
  });
}
