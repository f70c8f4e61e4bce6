import type { LedgerRow } from "./evidence.js";

/** Up to this lateness every occurrence is fired (the default misfire threshold). */
const misfireThresholdMs = 60_000;

/** Why an occurrence may be left out, by the reason in the ledger. A reason that is not here is allowed to nobody. */
const rules: Readonly<Record<string, (entry: LedgerRow) => boolean>> = {
  missed: ({ from, to, recordedAt }) => recordedAt - from > misfireThresholdMs && recordedAt >= to,
};

export function isAllowed(entry: LedgerRow): boolean {
  return rules[entry.reason]?.(entry) ?? false;
}
