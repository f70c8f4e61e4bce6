import { CarillonError, type Clock, type DurationMs } from "@carillon/core";
import type { HeldShard, NodeReport, NodeRow, NodeStore, ShardStore } from "@carillon/store";
import { supportedLevel } from "../cluster-level.js";
import type { OnEngineEvent } from "../../events.js";
import { ClusterMember, type MemberOptions } from "../cluster-member.js";
import { DatabaseTimeline } from "../detection/database-timeline.js";
import { HeartbeatHistory } from "../detection/heartbeat-monitor.js";
import { type Member, MemberChanges, type Registry, type ShardView } from "../registry.js";
import { type Coordinator, ShardTable } from "../shards.js";
import { type Entry, type EtcdClient, field, type Json, text } from "./etcd-client.js";

export interface EtcdRegistryOptions {
  readonly etcd: EtcdClient;
  /** The prefix of every key: each cluster that shares an etcd has another. */
  readonly prefix: string;
  readonly nodes: NodeStore;
  readonly shards: ShardStore;
  readonly clock: Clock;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  readonly leaseMs: DurationMs;
  readonly onHistoryLost: () => void;
  readonly onEvent: OnEngineEvent;
}

/** A node whose leases ended before their first write, one after the other, stops joining after so many. */
const maxLeases = 10;

/**
 * etcd stores the members and the node to which each shard is promised, both under the node's lease. A node with a promised shard
 * writes the next epoch into the shard's row before it acts, so that SQL can fence; the row decides which node may write.
 */
class EtcdRegistry implements Registry {
  readonly nextCheckMs = null;
  readonly #options: EtcdRegistryOptions;
  readonly #history: HeartbeatHistory;
  readonly #changes: MemberChanges;
  readonly #timeline: DatabaseTimeline;
  readonly #table: ShardTable;
  #lease = "";
  #stored = "";

  constructor(options: EtcdRegistryOptions) {
    this.#options = options;
    this.#history = new HeartbeatHistory(10 * options.leaseMs);
    this.#changes = new MemberChanges(options.onEvent);
    this.#timeline = new DatabaseTimeline(options.shards, options.onEvent);
    this.#table = new ShardTable(options.shards);
  }

  lastHeartbeatAt(nodeId: string): DurationMs | undefined {
    return this.#history.lastChangeAt(nodeId);
  }

  /** etcd counts the leases: this node observes nothing. */
  forget(): void {}

  /** Writes to etcd first: a row without an entry in etcd belongs to a dead node. */
  async announce(nodeId: string, report: NodeReport): Promise<void> {
    const { nodes, node } = this.#options;
    await this.#isHistoryLost();
    await this.#enter(nodeId, report);
    await nodes.register({ id: nodeId, ...node, level: supportedLevel });
    await nodes.heartbeat(nodeId, report);
  }

  async renew(nodeId: string, report: NodeReport): Promise<boolean> {
    const { etcd, nodes } = this.#options;
    if (!(await etcd.keepAlive(this.#lease))) return false;
    if (!(await this.#store(nodeId, report))) return false;
    if ((await nodes.heartbeat(nodeId, report)) && !(await this.#isHistoryLost())) return true;
    await etcd.revoke(this.#lease);
    return false;
  }

  async shards(): Promise<ShardView[]> {
    const { etcd } = this.#options;
    const promised = new Map((await etcd.list(this.#shardKey(""))).map(({ key, value }) => [key, value]));
    const rows = await this.#table.read();
    return rows.map((row) => ({ ...row, promisedTo: promised.get(this.#shardKey(row.id)) ?? null }));
  }

  /** Reads the rows first: every node with a row was in etcd before. */
  async members(nodeId: string): Promise<Member[]> {
    const { etcd, nodes, clock } = this.#options;
    const rows = await nodes.list();
    const members = (await etcd.list(this.#nodeKey(""))).map((entry) => this.#toMember(entry));
    this.#history.record(rows, clock.monotonic());
    const living = new Set(members.map((member) => member.id));
    await this.#removeDead(rows.filter((row) => !living.has(row.id)));
    this.#changes.update(members, nodeId);
    return members;
  }

  /** Takes nothing once the lease has ended: the next pass detects that, and the node joins again. */
  async take(nodeId: string, seen: readonly HeldShard[]): Promise<HeldShard[]> {
    const wanted = seen.map((shard) => ({ key: this.#shardKey(shard.id), value: nodeId }));
    const won = new Set((await this.#options.etcd.create(wanted, this.#lease)).map((entry) => entry.key));
    const promised = seen.filter((shard) => won.has(this.#shardKey(shard.id)));
    return promised.length === 0 ? [] : this.#options.shards.take(nodeId, promised);
  }

  /** Gives up the row first: a node must not write for a shard that is no longer promised to it. */
  async drop(nodeId: string, shards: readonly number[]): Promise<void> {
    await this.#options.shards.drop(nodeId, shards);
    await this.#options.etcd.remove(shards.map((id) => ({ key: this.#shardKey(id), value: nodeId })));
  }

  async leave(nodeId: string): Promise<void> {
    const { etcd, nodes, shards } = this.#options;
    try {
      await shards.release(nodeId);
      await nodes.remove(nodeId, null);
    } finally {
      await etcd.revoke(this.#lease);
    }
  }

  async #isHistoryLost(): Promise<boolean> {
    const isLost = await this.#timeline.check();
    if (isLost) this.#options.onHistoryLost();
    return isLost;
  }

  /** A lease may end before its first write: the process was halted, or etcd lost it. No other node knew of it, so another lease is as good. */
  async #enter(nodeId: string, report: NodeReport): Promise<void> {
    const { etcd, leaseMs } = this.#options;
    for (let tried = 0; tried < maxLeases; tried++) {
      this.#lease = await etcd.grant(leaseMs);
      this.#stored = "";
      if (await this.#store(nodeId, report)) return;
    }
    throw new CarillonError("etcd_unavailable", `etcd let ${maxLeases} new leases end before they were used.`);
  }

  /** false: the lease has ended. */
  async #store(nodeId: string, { takesShards }: NodeReport): Promise<boolean> {
    const value = JSON.stringify({ name: this.#options.node.name, takesShards });
    if (value === this.#stored) return true;
    if (!(await this.#options.etcd.put({ key: this.#nodeKey(nodeId), value }, this.#lease))) return false;
    this.#stored = value;
    return true;
  }

  async #removeDead(rows: readonly NodeRow[]): Promise<void> {
    for (const { id, name, heartbeat } of rows) {
      if (!(await this.#options.nodes.remove(id, heartbeat))) continue;
      this.#changes.forget(id);
      this.#options.onEvent({ type: "node.lost", nodeId: id, name, detection: "lease_expired" });
    }
  }

  #toMember({ key, value }: Entry): Member {
    const stored: Json = JSON.parse(value);
    return {
      id: key.slice(this.#nodeKey("").length),
      name: text(field(stored, "name")),
      takesShards: field(stored, "takesShards") === true,
    };
  }

  #nodeKey(id: string): string {
    return `${this.#options.prefix}/node/${id}`;
  }

  #shardKey(id: number | ""): string {
    return `${this.#options.prefix}/shard/${id}`;
  }
}

/** Membership and promises in etcd; the fence stays in PostgreSQL. */
export function etcdCoordinator(options: MemberOptions & EtcdRegistryOptions): Coordinator {
  return new ClusterMember(options, new EtcdRegistry(options));
}
