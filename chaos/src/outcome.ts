import type { ViolationKind } from "./judge/verdict.js";
import type { Result } from "./report.js";

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

const hasBitten = ({ bites }: Result): boolean => bites.refusedWrites > 0 || bites.movedShards > 0;

/**
 * A run with violations has failed whatever the faults did; one without is worth something only if they did something. On a machine
 * that had no time for it, a run proves nothing if anything is wrong that may be for lack of time.
 */
export function outcomeOf(result: Result): Outcome {
  if (isWrong(result)) return "violations";
  if (isDoubtful(result)) return isStarved(result) ? "starved" : "violations";
  return hasBitten(result) ? "ok" : "void";
}

export const outcomeLines: Readonly<Record<Outcome, string>> = {
  ok: "ok: nothing missed, nothing done twice",
  violations: "FAILED",
  void: "VOID: no write was refused and no shard moved, so nothing was proved",
  starved: "VOID: the machine had no time for it, so nothing was proved",
};
