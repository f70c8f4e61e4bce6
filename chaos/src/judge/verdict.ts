/** The kinds of violation, each of which fails a run. */
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
  /** Upstream ends that dependent jobs wait for. */
  readonly upstreamEnds: { readonly ok: number; readonly optional: number };
  readonly runs: {
    readonly ok: number;
    readonly repeated: number;
    /** Ended because a newer run replaced it. */
    readonly replaced: number;
    readonly abandoned: number;
  };
  /** From the nominal instant to the first start in the journal, in ascending order. */
  readonly lateMs: readonly number[];
  readonly violations: readonly Violation[];
}
