import type { StartEntry } from "../journal/journal-server.js";
import { mayExplainRetry } from "./causes.js";
import { type Evidence, type JournalView, groupBy } from "./evidence.js";
import type { Violation } from "./verdict.js";

interface Work {
  readonly run: string;
  readonly from: number;
  readonly until: number;
  readonly isAccepted: boolean;
}

/**
 * Finds two runs of a job that worked at the same time although the job forbids it. If both results were accepted, that
 * is always a violation. The work of a frozen worker may overlap physically and its result is refused; that needs a
 * fault which may have taken the run from the worker.
 */
export function judgeOverlaps(evidence: Evidence, journal: JournalView): Violation[] {
  const exclusive = new Set(evidence.histories.flatMap(({ job }) => (job.overlap === "allow" ? [] : job.key)));
  const accepted = new Set(evidence.runs.map((run) => run.token));
  const starts = journal.starts.filter((start) => exclusive.has(start.job));
  const workOf = ({ at, token, run }: StartEntry): Work => ({
    run,
    from: at,
    until: journal.endOf(token)?.at ?? Number.POSITIVE_INFINITY,
    isAccepted: accepted.has(token),
  });
  return [...groupBy(starts, (start) => start.job)].flatMap(([job, works]) =>
    pairsAtOnce(works.map(workOf))
      .filter(
        ([one, next]) =>
          (one.isAccepted && next.isAccepted) || !mayExplainRetry(evidence, { from: one.from, to: next.from }),
      )
      .map(([one, next]) => ({
        kind: "OVERLAP" as const,
        job,
        nominal: null,
        detail: `runs ${one.run} and ${next.run} worked at the same time`,
      })),
  );
}

/** Pairs of different runs; the one that began first is the first of the pair. */
function pairsAtOnce(works: readonly Work[]): [Work, Work][] {
  const inOrder = works.toSorted((a, b) => a.from - b.from);
  return inOrder.flatMap((next, index) =>
    inOrder
      .slice(0, index)
      .filter((one) => one.run !== next.run && one.until > next.from)
      .map((one): [Work, Work] => [one, next]),
  );
}
