import type { Result } from "./report.js";

export const exitCodes = { ok: 0, violations: 1, usage: 2, void: 3, broken: 4 } as const;

export type Outcome = "ok" | "violations" | "void";

export const hasFailed = ({ verdict, audits, recoveredMs }: Result): boolean =>
  verdict.violations.length > 0 || audits.length > 0 || recoveredMs === null;

const isVoid = ({ bites }: Result): boolean => bites.refusedWrites === 0 && bites.movedShards === 0;

/** A run with violations has failed whatever the faults did; one without is worth something only if they did something. */
export function outcomeOf(result: Result): Outcome {
  if (hasFailed(result)) return "violations";
  return isVoid(result) ? "void" : "ok";
}

export const outcomeLines: Readonly<Record<Outcome, string>> = {
  ok: "ok: nothing missed, nothing done twice",
  violations: "FAILED",
  void: "VOID: no write was refused and no shard moved, so nothing was proved",
};
