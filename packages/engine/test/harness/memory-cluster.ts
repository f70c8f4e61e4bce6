import type { HeldShard, NodeRow, NodeStore, ShardRow, ShardStore, TimelineRow } from "@carillon/store";
import { supportedLevel } from "../../src/cluster/cluster-level.js";
import { ClusterMember, type MemberOptions } from "../../src/cluster/cluster-member.js";
import { type IncarnationLock, RowRegistry } from "../../src/cluster/postgres/row-registry.js";
import type { Coordinator } from "../../src/cluster/shards.js";

/** How far epochs jump when leases are voided, as in shard.void. */
const jump = 1_048_576;

/**
 * The cluster's tables in one process: rows of nodes and shards, and locks. Each call is atomic, as a statement is. Tests change
 * `timeline` and `serverStart` to simulate a failover or a restart.
 */
export class MemoryCluster {
  readonly nodes: NodeStore;
  readonly shards: ShardStore;
  timeline = "1";
  #fences = 0;
  serverStart = "1";
  readonly #nodes = new Map<string, Omit<NodeRow, "locked" | "serverStart">>();
  readonly #locks = new Set<string>();
  #rows: ShardRow[];
  #remembered: string | null = null;
  #beats = 0;

  constructor(shards: number) {
    this.#rows = Array.from({ length: shards }, (_, id) => ({ id, owner: null, epoch: 0 }));
    this.nodes = this.#nodeStore();
    this.shards = this.#shardStore();
  }

  /** Whether a fence with this owner and epoch holds. */
  owns(node: string, { id, epoch }: HeldShard): boolean {
    const row = this.#rows[id];
    return row !== undefined && row.owner === node && row.epoch === epoch;
  }

  /** The lock of one node's process. */
  lock(): IncarnationLock {
    const locks = this.#locks;
    let held: string | null = null;
    const release = async (): Promise<void> => {
      if (held !== null) locks.delete(held);
      held = null;
    };
    return {
      async hold(nodeId) {
        await release();
        locks.add((held = nodeId));
      },
      release,
    };
  }

  #nodeStore(): NodeStore {
    const beat = (): string => String(++this.#beats);
    return {
      register: async ({ id, name, address }) => {
        this.#nodes.set(id, { id, name, address, heartbeat: beat(), takesShards: true });
      },
      heartbeat: async (id, { takesShards }) => {
        const node = this.#nodes.get(id);
        if (node !== undefined) this.#nodes.set(id, { ...node, heartbeat: beat(), takesShards });
        return node !== undefined;
      },
      list: async () =>
        [...this.#nodes.values()].map((node) => ({
          ...node,
          locked: this.#locks.has(node.id),
          serverStart: this.serverStart,
        })),
      remove: async (id, seen) => {
        const node = this.#nodes.get(id);
        return node !== undefined && (seen === null || node.heartbeat === seen) && this.#nodes.delete(id);
      },
      level: async () => ({ inUse: supportedLevel, supported: supportedLevel }),
      raiseLevel: async () => supportedLevel,
    };
  }

  #shardStore(): ShardStore {
    const give = (which: (row: ShardRow) => boolean): number[] => {
      const given = new Set(this.#rows.filter(which).map((row) => row.id));
      this.#rows = this.#rows.map((row) => (given.has(row.id) ? { ...row, owner: null, epoch: row.epoch + 1 } : row));
      return [...given];
    };
    return {
      list: async () => this.#rows,
      moves: async () => String(this.#rows.reduce((sum, row) => sum + row.epoch, 0)),
      take: async (owner, seen) => {
        const epochs = new Map(seen.map((shard) => [shard.id, shard.epoch]));
        const taken = new Set(this.#rows.filter((row) => epochs.get(row.id) === row.epoch).map((row) => row.id));
        this.#rows = this.#rows.map((row) => (taken.has(row.id) ? { ...row, owner, epoch: row.epoch + 1 } : row));
        return this.#rows.filter((row) => taken.has(row.id));
      },
      drop: async (owner, shards) => give((row) => row.owner === owner && shards.includes(row.id)),
      release: async (owner) => give((row) => row.owner === owner).length,
      timeline: async (): Promise<TimelineRow> => ({
        timeline: this.timeline,
        flushed: String(this.#beats),
        remembered: this.#remembered,
        fences: this.#fences,
      }),
      rememberTimeline: async (timeline) => {
        this.#remembered ??= timeline;
      },
      voidAll: async ({ timeline, remembered }) => this.#void(timeline, remembered),
    };
  }

  #void(timeline: string, remembered: string): boolean {
    if (this.#remembered !== remembered) return false;
    this.#remembered = timeline;
    this.#fences++;
    this.#nodes.clear();
    this.#rows = this.#rows.map((row) => ({ ...row, owner: null, epoch: row.epoch + jump }));
    return true;
  }
}

/** The twin in memory: the same rules as over PostgreSQL, on rows that live in this process. */
export function memoryCoordinator(options: MemberOptions, cluster: MemoryCluster): Coordinator {
  const { nodes, shards } = cluster;
  const lock = cluster.lock();
  const registry = new RowRegistry({ ...options, nodes, shards, lock, alone: false, wake: () => undefined });
  return new ClusterMember(options, registry);
}
