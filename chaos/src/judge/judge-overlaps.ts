import type { Evidence } from "./evidence.js";
import { groupBy } from "./group-by.js";
import type { JournalView } from "./journal-view.js";
import type { Violation } from "./verdict.js";

/**
 * Did two runs of a job that forbids it work at the same time? Only tries that were accepted count: a frozen worker that
 * wakes late may overlap physically, and its result is refused.
 */
export function judgeOverlaps({ lives, runs }: Evidence, journal: JournalView): Violation[] {
  const exclusive = new Set(lives.flatMap(({ job }) => (job.overlap === "allow" ? [] : job.key)));
  const accepted = new Set(runs.map((run) => run.token));
  const starts = journal.starts.filter((start) => exclusive.has(start.job) && accepted.has(start.token));
  return [...groupBy(starts, (start) => start.job)].flatMap(([job, works]) => {
    const spans = works
      .map(({ at, token, run }) => ({ at, run, until: journal.endOf(token)?.at ?? Number.POSITIVE_INFINITY }))
      .sort((a, b) => a.at - b.at);
    return spans.slice(1).flatMap((span, index): Violation[] => {
      const before = spans[index];
      if (before === undefined || before.run === span.run || before.until <= span.at) return [];
      return [
        { kind: "OVERLAP", job, nominal: null, detail: `runs ${before.run} and ${span.run} worked at the same time` },
      ];
    });
  });
}
