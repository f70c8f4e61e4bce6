import type { Result } from "./report.js";

export const exitCodes = { ok: 0, violations: 1, usage: 2, void: 3, broken: 4, starved: 5 } as const;

export type Outcome = "ok" | "violations" | "void" | "starved";

/** From this share on, what was not done in time says nothing about the product. */
const starved = 0.1;

/** Something that no lack of time can bring about. */
const isWrong = ({ verdict, audits, recoveredMs }: Result): boolean =>
  audits.length > 0 || verdict.violations.some(({ kind }) => kind !== "UNDONE" || recoveredMs !== null);

const isLate = ({ recoveredMs }: Result): boolean => recoveredMs === null;

const isStarved = ({ starvation }: Result): boolean => starvation > starved;

const hasBitten = ({ bites }: Result): boolean => bites.refusedWrites > 0 || bites.movedShards > 0;

/**
 * A run with violations has failed whatever the faults did; one without is worth something only if they did something. On a machine
 * that had no time for it, a run that was not done in time proves nothing.
 */
export function outcomeOf(result: Result): Outcome {
  if (isWrong(result)) return "violations";
  if (isLate(result)) return isStarved(result) ? "starved" : "violations";
  return hasBitten(result) ? "ok" : "void";
}

export const outcomeLines: Readonly<Record<Outcome, string>> = {
  ok: "ok: nothing missed, nothing done twice",
  violations: "FAILED",
  void: "VOID: no write was refused and no shard moved, so nothing was proved",
  starved: "VOID: the machine had no time for it, so nothing was proved",
};
