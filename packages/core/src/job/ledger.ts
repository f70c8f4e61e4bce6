/** Why an occurrence has no scheduled run. Each is kept: an occurrence has a run or an entry with one of these. */
export const ledgerReasons = [
  "missed",
  "overlap",
  "window",
  "calendar",
  "merged",
  "paused",
  "superseded",
  "already_ran",
  "duplicate",
  "condition",
] as const;

export type LedgerReason = (typeof ledgerReasons)[number];
