import type { Instant, JobSpec } from "@carillon/core";
import type { StoredPause } from "@carillon/store";

/** What a change does to the definition; what it does to the due state is in the draft. */
export interface JobPatch {
  readonly pause: StoredPause | null;
  readonly endedAt: Instant | null;
  /** Set when the definition is replaced. */
  readonly definition?: { readonly spec: JobSpec; readonly lane: number };
}
