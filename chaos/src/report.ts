import { type Verdict, type ViolationKind, violationKinds } from "./judge/verdict.js";

/** Counts that show whether the faults had an effect. */
export interface FaultEffects {
  readonly refusedWrites: number;
  /** The same count for each statement. */
  readonly refusedBy: Readonly<Record<string, number>>;
  readonly movedShards: number;
  readonly rescuedRuns: number;
  /**
   * Nodes that exited although the harness did not stop them, for example on a broken connection during start. They
   * were started again.
   */
  readonly unexpectedExits: number;
  /** False reports of the rogue worker, and results of external workers that the server refused. */
  readonly falseReports: number;
  readonly refusedResults: number;
  /** How often the machine gave the harness or a node no CPU time. */
  readonly stalls: number;
}

export interface Result {
  readonly verdict: Verdict;
  /** One line for each audit query of docs/invariants.md that returned rows. */
  readonly audits: readonly string[];
  readonly faultEffects: FaultEffects;
  /** Time from the heal until no work was open; null if that took longer than the bound. */
  readonly recoveredMs: number | null;
  readonly requests: RequestCounts;
  /** The share of the load time in which the harness process, which needs little CPU, waited for the CPU. */
  readonly starvation: number;
}

/** How many API requests were acknowledged. */
export interface RequestCounts {
  readonly jobs: number;
  readonly unknownJobs: number;
  readonly changes: number;
  readonly runNows: number;
}

const shownViolations = 20;

export const violationsOf = ({ verdict }: Result, kind: ViolationKind): number =>
  verdict.violations.filter((violation) => violation.kind === kind).length;

/** One line per count, then the violations and the audits that found rows. */
export function reportLines(result: Result): string[] {
  const { verdict, audits, requests, faultEffects, recoveredMs } = result;
  const late = (share: number): number => verdict.lateMs[Math.ceil(verdict.lateMs.length * share) - 1] ?? 0;
  const counts: (readonly [string, number | string])[] = [
    ["jobs created", requests.jobs],
    ["jobs unknown", requests.unknownJobs],
    ["job changes", requests.changes],
    ["run-now runs", requests.runNows],
    ["targets ok", verdict.targets.ok],
    ["targets skipped", verdict.targets.skipped],
    ["targets optional", verdict.targets.optional],
    ["upstream ends ok", verdict.upstreamEnds.ok],
    ["late ms p50/p99/max", `${late(0.5)} / ${late(0.99)} / ${late(1)}`],
    ["runs ok", verdict.runs.ok],
    ["runs repeated", verdict.runs.repeated],
    ["runs replaced", verdict.runs.replaced],
    ["runs abandoned", verdict.runs.abandoned],
    ["writes refused", faultEffects.refusedWrites],
    ["shards moved", faultEffects.movedShards],
    ["runs rescued", faultEffects.rescuedRuns],
    ["false reports", faultEffects.falseReports],
    ["results refused", faultEffects.refusedResults],
    ["nodes exited", faultEffects.unexpectedExits],
    ["machine stalled", faultEffects.stalls],
    ["machine starved %", Math.round(result.starvation * 100)],
    ["recovered after ms", recoveredMs ?? "NOT WITHIN THE BOUND"],
    ...violationKinds.map((kind) => [kind, violationsOf(result, kind)] as const),
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

/** The checks of the judge as a list of test results. */
export function checksOf(result: Result): { readonly name: string; readonly ok: boolean }[] {
  const { audits, faultEffects, recoveredMs } = result;
  return [
    ...violationKinds.map((kind) => ({ name: `no ${kind}`, ok: violationsOf(result, kind) === 0 })),
    { name: "audit queries return no rows", ok: audits.length === 0 },
    { name: "no work is open within the bound after the heal", ok: recoveredMs !== null },
    { name: "faults had an effect", ok: faultEffects.refusedWrites > 0 || faultEffects.movedShards > 0 },
  ];
}

export const exitCodes = { ok: 0, violations: 1, usage: 2, void: 3, broken: 4, starved: 5, skipped: 6 } as const;

export type Outcome = "ok" | "violations" | "void" | "starved";

/** Beyond this starvation, a missed deadline says nothing about the product. */
const maxStarvation = 0.1;

/** Violations that slowness cannot cause; each of the others depends on a time limit. */
const timeless: ReadonlySet<ViolationKind> = new Set(["EARLY", "STALE FENCE ACCEPTED"]);

const isWrong = ({ verdict, audits }: Result): boolean =>
  audits.length > 0 || verdict.violations.some(({ kind }) => timeless.has(kind));

const isDoubtful = ({ verdict, recoveredMs }: Result): boolean => verdict.violations.length > 0 || recoveredMs === null;

const isStarved = ({ starvation }: Result): boolean => starvation > maxStarvation;

const hadEffect = ({ faultEffects }: Result): boolean => faultEffects.refusedWrites > 0 || faultEffects.movedShards > 0;

/**
 * A violation fails every run. A run without violations counts only if the faults had an effect.
 * On a starved machine a violation that slowness explains proves nothing.
 */
export function outcomeOf(result: Result): Outcome {
  if (isWrong(result)) return "violations";
  if (isDoubtful(result)) return isStarved(result) ? "starved" : "violations";
  return hadEffect(result) ? "ok" : "void";
}

export const outcomeLines: Readonly<Record<Outcome, string>> = {
  ok: "ok: no occurrence missed, none done twice",
  violations: "FAILED",
  void: "VOID: no write was refused and no shard moved, so the run proves nothing",
  starved: "VOID: the machine was starved, so the run proves nothing",
};
