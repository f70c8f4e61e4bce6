import { type Verdict, type ViolationKind, violationKinds } from "./judge/verdict.js";

/** What shows that faults did something. */
export interface FaultEffects {
  readonly refusedWrites: number;
  /** The same by statement. */
  readonly refusedBy: Readonly<Record<string, number>>;
  readonly movedShards: number;
  readonly rescuedRuns: number;
  /** Nodes that ended by themselves, as one does whose start meets a broken connection; they were started again. */
  readonly unexpectedExits: number;
  /** What the worker said that was not so, and results of workers elsewhere that were not taken. */
  readonly falseReports: number;
  readonly refusedResults: number;
  /** Times at which the machine had none for us. */
  readonly stalls: number;
}

export interface Result {
  readonly verdict: Verdict;
  /** Those of docs/invariants.md that found something. */
  readonly audits: readonly string[];
  readonly faultEffects: FaultEffects;
  /** How long it took after the heal until nothing was left to do; null when the bound was not kept. */
  readonly recoveredMs: number | null;
  readonly asked: RequestCounts;
  /** The share of the time for which the machine had none for the judge, who needs little. */
  readonly starvation: number;
}

/** What the API was asked for, and acknowledged. */
export interface RequestCounts {
  readonly jobs: number;
  readonly unknownJobs: number;
  readonly changes: number;
  readonly runNows: number;
}

const shownViolations = 20;

export const violationsOf = ({ verdict }: Result, kind: ViolationKind): number =>
  verdict.violations.filter((violation) => violation.kind === kind).length;

/** One line per count; then what was wrong, if anything. */
export function reportLines(result: Result): string[] {
  const { verdict, audits, asked, faultEffects, recoveredMs } = result;
  const late = (share: number): number => verdict.lateMs[Math.ceil(verdict.lateMs.length * share) - 1] ?? 0;
  const counts: (readonly [string, number | string])[] = [
    ["jobs acknowledged", asked.jobs],
    ["jobs unknown", asked.unknownJobs],
    ["changes of jobs", asked.changes],
    ["runs out of turn", asked.runNows],
    ["targets ok", verdict.targets.ok],
    ["targets skipped", verdict.targets.skipped],
    ["targets optional", verdict.targets.optional],
    ["ends followed", verdict.followed.ok],
    ["late ms p50/p99/max", `${late(0.5)} / ${late(0.99)} / ${late(1)}`],
    ["runs ok", verdict.runs.ok],
    ["runs repeated", verdict.runs.repeated],
    ["runs replaced", verdict.runs.replaced],
    ["runs abandoned", verdict.runs.abandoned],
    ["writes refused", faultEffects.refusedWrites],
    ["shards moved", faultEffects.movedShards],
    ["runs rescued", faultEffects.rescuedRuns],
    ["falseReports of a worker", faultEffects.falseReports],
    ["results refused", faultEffects.refusedResults],
    ["nodes ended", faultEffects.unexpectedExits],
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

/** What a run was asked, each with its answer: what a list of tests shows. */
export function checksOf(result: Result): { readonly name: string; readonly ok: boolean }[] {
  const { audits, faultEffects, recoveredMs } = result;
  return [
    ...violationKinds.map((kind) => ({ name: `no ${kind}`, ok: violationsOf(result, kind) === 0 })),
    { name: "audit queries return no rows", ok: audits.length === 0 },
    { name: "all that is due is done within the bound after the heal", ok: recoveredMs !== null },
    { name: "faults did something", ok: faultEffects.refusedWrites > 0 || faultEffects.movedShards > 0 },
  ];
}

export const exitCodes = { ok: 0, violations: 1, usage: 2, void: 3, broken: 4, starved: 5 } as const;

export type Outcome = "ok" | "violations" | "void" | "starved";

/** From this share on, what was not done in time says nothing about the product. */
const starved = 0.1;

/** Verdicts that no lack of time can bring about: all others rest on how long something may take. */
const timeless: ReadonlySet<ViolationKind> = new Set(["EARLY", "STALE FENCE ACCEPTED"]);

const isWrong = ({ verdict, audits }: Result): boolean =>
  audits.length > 0 || verdict.violations.some(({ kind }) => timeless.has(kind));

const isDoubtful = ({ verdict, recoveredMs }: Result): boolean => verdict.violations.length > 0 || recoveredMs === null;

const isStarved = ({ starvation }: Result): boolean => starvation > starved;

const hadEffect = ({ faultEffects }: Result): boolean => faultEffects.refusedWrites > 0 || faultEffects.movedShards > 0;

/**
 * A run with violations has failed whatever the faults did; one without is worth something only if they did something. On a machine
 * that had no time for it, a run proves nothing if anything is wrong that may be for lack of time.
 */
export function outcomeOf(result: Result): Outcome {
  if (isWrong(result)) return "violations";
  if (isDoubtful(result)) return isStarved(result) ? "starved" : "violations";
  return hadEffect(result) ? "ok" : "void";
}

export const outcomeLines: Readonly<Record<Outcome, string>> = {
  ok: "ok: nothing missed, nothing done twice",
  violations: "FAILED",
  void: "VOID: no write was refused and no shard moved, so nothing was proved",
  starved: "VOID: the machine had no time for it, so nothing was proved",
};
