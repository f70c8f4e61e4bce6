import type { DispatchContext } from "../../src/dispatch/dispatch-context.js";
import { hostPorts, newId } from "./store-harness.js";

export interface DispatchOver extends Partial<Omit<DispatchContext, "limits" | "store" | "wakeups">> {
  readonly limits?: Partial<DispatchContext["limits"]>;
  readonly store?: Partial<DispatchContext["store"]>;
  readonly wakeups?: Partial<DispatchContext["wakeups"]>;
}

const nothing = (): undefined => undefined;

/** The context of dispatch without a node around it: no loop is started, and wakeups reach no component unless the test takes them. */
export function dispatchContext({ limits, store, wakeups, ...over }: DispatchOver): DispatchContext {
  return {
    ...hostPorts,
    newId,
    now: Date.now,
    random: () => 0.5,
    emit: nothing,
    loopFailed: nothing,
    loops: { register: nothing },
    ...over,
    store: store as DispatchContext["store"],
    // Full scans come only when the test asks for one.
    limits: { claimBatch: 500, fullScanIntervalMs: 3_600_000, maxLosses: 3, workerTimeoutMs: 15_000, ...limits },
    wakeups: {
      announce: nothing,
      on: nothing,
      publish: nothing,
      requestAs: nothing,
      runsDue: nothing,
      runsQueued: nothing,
      serveWorkers: nothing,
      ...wakeups,
    },
  };
}

/** A direct channel without other nodes. */
export const noChannel = { address: null, sendOffer: nothing, serve: nothing };
