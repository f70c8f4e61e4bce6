import { type Verdict, violationKinds } from "./judge/verdict.js";

/** What shows that faults did something. */
export interface Bites {
  readonly refusedWrites: number;
  readonly movedShards: number;
  readonly rescuedRuns: number;
  /** Nodes that ended by themselves, as one does whose start meets a broken connection; they were started again. */
  readonly ownEnds: number;
}

export interface Result {
  readonly verdict: Verdict;
  readonly audits: readonly string[];
  readonly bites: Bites;
  /** How long it took after the heal until nothing was left to do; null when the bound was not kept. */
  readonly recoveredMs: number | null;
  readonly acknowledged: number;
  readonly unknown: number;
}

const shownViolations = 20;

export const isVoid = ({ bites }: Result): boolean => bites.refusedWrites === 0 && bites.movedShards === 0;

export const hasFailed = ({ verdict, audits, recoveredMs }: Result): boolean =>
  verdict.violations.length > 0 || audits.length > 0 || recoveredMs === null;

/** One line per count; then what was wrong, if anything. */
export function reportLines(result: Result): string[] {
  const { verdict, audits, bites, recoveredMs } = result;
  const late = (share: number): number => verdict.lateMs[Math.ceil(verdict.lateMs.length * share) - 1] ?? 0;
  const counts: (readonly [string, number | string])[] = [
    ["jobs acknowledged", result.acknowledged],
    ["jobs unknown", result.unknown],
    ["targets ok", verdict.targets.ok],
    ["targets skipped", verdict.targets.skipped],
    ["targets optional", verdict.targets.optional],
    ["late ms p50/p99/max", `${late(0.5)} / ${late(0.99)} / ${late(1)}`],
    ["runs ok", verdict.runs.ok],
    ["runs repeated", verdict.runs.repeated],
    ["runs buried", verdict.runs.buried],
    ["writes refused", bites.refusedWrites],
    ["shards moved", bites.movedShards],
    ["runs rescued", bites.rescuedRuns],
    ["nodes ended", bites.ownEnds],
    ["recovered after ms", recoveredMs ?? "NOT WITHIN THE BOUND"],
    ...violationKinds.map(
      (kind) => [kind, verdict.violations.filter((violation) => violation.kind === kind).length] as const,
    ),
    ["audit queries", audits.length === 0 ? "no rows" : `${audits.length} WITH ROWS`],
  ];
  const violations = verdict.violations
    .slice(0, shownViolations)
    .map(
      ({ kind, job, nominal, detail }) =>
        `${kind}: ${job}${nominal === null ? "" : ` at ${new Date(nominal).toISOString()}`}: ${detail}`,
    );
  const more = verdict.violations.length - violations.length;
  if (more > 0) violations.push(`… and ${more} more`);
  return [...counts.map(([name, count]) => `${name.padEnd(22)}${count}`), ...violations, ...audits];
}
