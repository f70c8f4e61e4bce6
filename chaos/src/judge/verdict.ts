/** What must never be. */
export const violationKinds = [
  "MISSED",
  "UNDONE",
  "EARLY",
  "UNEXPECTED",
  "DOUBLE",
  "STALE FENCE ACCEPTED",
  "OVERLAP",
] as const;

export type ViolationKind = (typeof violationKinds)[number];

export interface Violation {
  readonly kind: ViolationKind;
  readonly job: string;
  readonly nominal: number | null;
  readonly detail: string;
}

export interface Verdict {
  readonly targets: { readonly ok: number; readonly skipped: number; readonly optional: number };
  /** Ends of runs that jobs follow. */
  readonly followed: { readonly ok: number; readonly optional: number };
  readonly runs: {
    readonly ok: number;
    readonly repeated: number;
    /** Ended to make room for a newer one. */
    readonly replaced: number;
    readonly abandoned: number;
  };
  /** From the nominal instant to the first start that the journal saw, in ascending order. */
  readonly lateMs: readonly number[];
  readonly violations: readonly Violation[];
}
