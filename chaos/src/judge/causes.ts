import { faultSpecs } from "../plan/fault.js";
import { type WorkerFaultKind, workerFaultKinds } from "../plan/worker-faults.js";
import type { DoneFault, Evidence } from "./evidence.js";

type Faults = Pick<Evidence, "faults" | "aftermathMs">;

/** Whether a fault may have taken the work begun at `from` from its worker, so that another attempt began at `to`. */
export function mayExplainRetry({ faults, aftermathMs }: Faults, { from, to }: { from: number; to: number }): boolean {
  return faults.some((fault) => interruptsRuns(fault) && fault.from <= to && fault.until + aftermathMs >= from);
}

/** Whether a failover may have lost what happened at this instant: from the cut of the replication until the last worker knows of it. */
export function mayBeLost({ faults, aftermathMs }: Faults, at: number): boolean {
  return faults.some(({ kind, from, until }) => kind === "failover" && from <= at && at <= until + aftermathMs);
}

function interruptsRuns({ kind }: DoneFault): boolean {
  return kind === "stall" || isWorkerFault(kind) || faultSpecs[kind].interruptsRuns;
}

function isWorkerFault(kind: DoneFault["kind"]): kind is WorkerFaultKind {
  return (workerFaultKinds as readonly string[]).includes(kind);
}

/** How much of a time span no fault covers. Each fault also covers the time to settle after it. */
export function undisturbedMs(
  faults: readonly DoneFault[],
  { from, to, settleMs }: { from: number; to: number; settleMs: number },
): number {
  let at = from;
  let free = 0;
  for (const fault of faults.toSorted((a, b) => a.from - b.from)) {
    if (fault.until + settleMs <= at) continue;
    if (fault.from >= to) break;
    free += Math.max(0, fault.from - at);
    at = fault.until + settleMs;
  }
  return free + Math.max(0, to - at);
}
