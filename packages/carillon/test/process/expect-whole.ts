import { expect } from "vitest";
import type { EverySecond } from "./every-second.js";
import type { NodeCluster } from "./node-cluster.js";

/** The jobs go on, each of their instants became one run or a ledger entry, and no audit finds anything. */
export async function expectWhole(cluster: NodeCluster, jobs: EverySecond): Promise<void> {
  await jobs.goOn();
  expect(await jobs.faults()).toEqual([]);
  expect(await cluster.auditFindings()).toEqual([]);
}
