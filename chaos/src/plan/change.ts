import { type Rule, ruleFrom } from "./rule.js";

/** What becomes of the occurrences inside a pause. */
export type Missed = "none" | "latest" | "all";

/**
 * A change of a job that its maker asks for. resume also stands for a pause that ends by itself. Instants are milliseconds; in a
 * plan they count from the begin of the load.
 */
export type Change =
  | { readonly kind: "edit"; readonly rule: Rule }
  | { readonly kind: "pause"; readonly until: number | null; readonly missed: Missed }
  | { readonly kind: "resume"; readonly missed: Missed }
  | { readonly kind: "cancel"; readonly running: "signal" | "keep" };

export interface PlannedChange {
  readonly atMs: number;
  readonly change: Change;
}

/** The change of a plan that begins at this instant. */
export function changeFrom(begin: number, change: Change): Change {
  if (change.kind === "edit") return { ...change, rule: ruleFrom(begin, change.rule) };
  if (change.kind === "pause" && change.until !== null) return { ...change, until: begin + change.until };
  return change;
}
