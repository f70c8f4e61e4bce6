import { chooseWorld } from "../targets/choose-world.js";
import type { Life } from "../targets/life.js";
import type { Target } from "../targets/target.js";
import type { Evidence } from "./evidence.js";
import { groupBy, occurrenceKey } from "./group-by.js";
import { judgeTargets } from "./judge-targets.js";
import { journalView } from "./journal-view.js";
import { isUnasked } from "./unasked.js";

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
