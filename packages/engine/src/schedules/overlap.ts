import type { LiveRunStatus, OverlapPolicy } from "@carillon/core";

export interface LiveRun {
  readonly id: string;
  readonly status: LiveRunStatus;
}

/**
 * start: queue the new run. wait: keep it blocked until the live ones have ended. refuse: make none. replace: end the
 * waiting ones, ask the running ones to stop, and let the new run wait for those.
 */
export type OverlapDecision =
  | { readonly kind: "start" | "wait" | "refuse" }
  | { readonly kind: "replace"; readonly end: readonly string[]; readonly stop: readonly string[] };

/** Runs of one job that may wait; further ones are refused and go to the ledger. */
const maxWaiting = 1_000;

/** How a new run of a job affects the live ones. Call it with the job's row locked. */
export function decideOverlap(policy: OverlapPolicy, live: readonly LiveRun[]): OverlapDecision {
  if (live.length === 0 || policy === "allow") return { kind: "start" };
  const waiting = live.filter((run) => run.status === "blocked").length;
  switch (policy) {
    case "skip":
      return { kind: "refuse" };
    case "queue_one":
      return { kind: waiting === 0 ? "wait" : "refuse" };
    case "queue_all":
      return { kind: waiting < maxWaiting ? "wait" : "refuse" };
    default: {
      const stop = live.filter((run) => run.status === "running").map((run) => run.id);
      const end = live.filter((run) => run.status !== "running").map((run) => run.id);
      return { kind: "replace", end, stop };
    }
  }
}
