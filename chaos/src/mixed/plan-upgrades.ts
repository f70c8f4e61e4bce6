import type { Fault, FaultKind } from "../plan/fault.js";

/**
 * Faults between the upgrades. None of them ends a node or takes it out of the cluster: a node of the version before does not start again
 * on the newer schema.
 */
export const kindsBesideUpgrades: readonly FaultKind[] = [
  "reset",
  "lose_fire",
  "lose_claim",
  "lose_result",
  "lose_commit",
  "delay",
];

/** How long a node may need to stop and to start again in the newer version. */
const lastsMs = 10_000;

/** One node after the other is upgraded, evenly over the load; the first one is killed while it migrates the schema. */
export function planUpgrades(nodes: number, loadMs: number): Fault[] {
  return Array.from({ length: nodes }, (_, node): Fault => {
    const atMs = Math.round((loadMs * (node + 1)) / (nodes + 2));
    return { kind: node === 0 ? "upgrade_killed" : "upgrade", node, atMs, lastsMs, byMs: null, at: null };
  });
}
