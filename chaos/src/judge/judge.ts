import type { Evidence } from "./evidence.js";
import { judgeFollowers } from "./judge-followers.js";
import { judgeOverlaps } from "./judge-overlaps.js";
import { judgeRuns } from "./judge-runs.js";
import { judgeTargets } from "./judge-targets.js";
import { journalView } from "./journal-view.js";
import type { Verdict } from "./verdict.js";

/** Compares what was promised with what the journal saw and what the database says. Trusts only the first two. */
export function judge(evidence: Evidence): Verdict {
  const journal = journalView(evidence.journal);
  const targets = judgeTargets(evidence, journal);
  const runs = judgeRuns(evidence, journal);
  const { followed, violations: lost } = judgeFollowers(evidence, journal);
  const violations = [...targets.violations, ...runs.violations, ...lost, ...judgeOverlaps(evidence, journal)];
  return { targets: targets.targets, followed, runs: runs.runs, lateMs: targets.lateMs, violations };
}
