import type { Life } from "../targets/life.js";
import { type Target, chooseWorld } from "../targets/targets-in.js";
import { type Evidence, groupBy, journalView, occurrenceKey } from "./evidence.js";
import { judgeFollowers } from "./judge-followers.js";
import { judgeOverlaps } from "./judge-overlaps.js";
import { isUnasked, judgeRuns } from "./judge-runs.js";
import { judgeTargets } from "./judge-targets.js";
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

/** What the jobs promised, each in the world that fits best what was seen of it. */
export function resolveTargets(lives: readonly Life[], seen: Omit<Evidence, "targets">): Target[] {
  const journal = journalView(seen.journal);
  const runsOf = groupBy(seen.runs, (run) => run.job);
  const ledgerOf = groupBy(seen.ledger, (entry) => entry.job);
  return lives.flatMap((life) => {
    const runs = runsOf.get(life.job.key) ?? [];
    const ledger = ledgerOf.get(life.job.key) ?? [];
    return chooseWorld(life, (targets) => {
      const promised = new Set(targets.map(occurrenceKey));
      const evidence = { ...seen, lives: [life], runs, ledger, targets };
      const unasked = runs.filter((run) => isUnasked(run, promised, { life, journal })).length;
      return judgeTargets(evidence, journal).violations.length + unasked;
    });
  });
}
