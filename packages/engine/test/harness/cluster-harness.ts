import type { MemberOptions } from "../../src/cluster/cluster-member.js";
import { postgresCoordinator } from "../../src/cluster/postgres/row-registry.js";
import type { Coordinator } from "../../src/cluster/shards.js";
import type { EngineEvent } from "../../src/index.js";
import type { ClusterUnderTest } from "../conformance/coordinator.js";
import { MemoryCluster, memoryCoordinator } from "./memory-cluster.js";
import { newId, storeHarness } from "./store-harness.js";

const leaseMs = 5_000;

/** Time and clocks of the nodes under test. The test moves them. */
export class TestTime {
  monotonic = 0;
  readonly events: EngineEvent[] = [];
  /** How far each node's wall clock is from the database's, by its name. */
  readonly skews = new Map<string, number>();

  member(name: string): MemberOptions {
    return {
      clock: { now: Date.now, monotonic: () => this.monotonic },
      newId,
      node: { name, address: null, version: "0" },
      leaseMs,
      skew: () => ({ skewMs: this.skews.get(name) ?? 0, uncertaintyMs: 0 }),
      skewToleranceMs: 500,
      onHistoryLost: () => undefined,
      onEvent: (event) => void this.events.push(event),
    };
  }

  /** Each node ticks three times, a second apart. */
  async settle(...nodes: Coordinator[]): Promise<void> {
    for (let round = 0; round < 3; round++) {
      this.monotonic += 1_000;
      for (const one of nodes) await one.tick();
    }
  }

  count(type: EngineEvent["type"]): number {
    return this.events.filter((event) => event.type === type).length;
  }
}

export async function memoryCluster(): Promise<ClusterUnderTest> {
  const time = new TestTime();
  const cluster = new MemoryCluster(1_024);
  return {
    leaseMs,
    roundMs: leaseMs / 5,
    events: time.events,
    node: (name) => memoryCoordinator(time.member(name), cluster),
    pass: async (ms) => void (time.monotonic += ms),
    owners: () => cluster.shards.list(),
    close: async () => undefined,
  };
}

/** Without locks: heartbeats alone decide. */
export async function postgresCluster(): Promise<ClusterUnderTest> {
  const time = new TestTime();
  const h = await storeHarness();
  const { nodes, shards } = h.store;
  const rows = { nodes, shards, lock: null, alone: false, wake: () => undefined };
  return {
    leaseMs,
    roundMs: leaseMs / 5,
    events: time.events,
    node: (name) => postgresCoordinator({ ...time.member(name), ...rows }),
    pass: async (ms) => void (time.monotonic += ms),
    owners: () => shards.list(),
    close: () => h.close(),
  };
}
