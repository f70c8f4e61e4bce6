import { CarillonError, type Clock, type DurationMs } from "@carillon/core";
import type { OnEngineEvent } from "../../events.js";
import type { HeldShard, NodeReport, NodeRow, NodeStore, ShardStore } from "@carillon/store";
import { LineageWatch } from "../detection/database-timeline.js";
import type { Member, Registry, ShardView } from "../registry.js";
import { Roll } from "../detection/member-changes.js";
import { ShardTable } from "../shards/shard-table.js";
import { SignsOfLife } from "../detection/heartbeat-history.js";
import type { Entry, EtcdClient } from "./etcd-client.js";
import { field, type Json, text } from "./json.js";

export interface EtcdRegistryOptions {
  readonly etcd: EtcdClient;
  /** The beginning of every key; clusters that share an etcd differ in it. */
  readonly prefix: string;
  readonly nodes: NodeStore;
  readonly shards: ShardStore;
  readonly clock: Clock;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  readonly leaseMs: DurationMs;
  readonly onEvent: OnEngineEvent;
}

/** A node that finds so many leases ended, one after the other, does not come in by yet another. */
const mostLeases = 10;

/**
 * etcd decides who is a member and to whom a shard is promised, both under the node's lease. Whoever is promised a shard
 * writes its next epoch into the shard's row before it acts, so that SQL can fence; the row decides who may write.
 */
export class EtcdRegistry implements Registry {
  readonly nextLookMs = null;
  readonly #options: EtcdRegistryOptions;
  readonly #signs: SignsOfLife;
  readonly #roll: Roll;
  readonly #lineage: LineageWatch;
  readonly #table: ShardTable;
  #lease = "";
  #said = "";

  constructor(options: EtcdRegistryOptions) {
    this.#options = options;
    this.#signs = new SignsOfLife(10 * options.leaseMs);
    this.#roll = new Roll(options.onEvent);
    this.#lineage = new LineageWatch(options.shards, options.onEvent);
    this.#table = new ShardTable(options.shards);
  }

  lastSignOf(nodeId: string): DurationMs | undefined {
    return this.#signs.of(nodeId);
  }

  /** etcd counts the leases: nothing is observed here. */
  forget(): void {}

  /** In etcd first: a row of a node that etcd does not know is the row of a dead one. */
  async announce(nodeId: string, report: NodeReport): Promise<void> {
    const { nodes, node } = this.#options;
    await this.#lineage.check();
    await this.#enter(nodeId, report);
    await nodes.register({ id: nodeId, ...node });
    await nodes.heartbeat(nodeId, report);
  }

  async renew(nodeId: string, report: NodeReport): Promise<boolean> {
    const { etcd, nodes } = this.#options;
    if (!(await etcd.keepAlive(this.#lease))) return false;
    if (!(await this.#say(nodeId, report))) return false;
    if ((await nodes.heartbeat(nodeId, report)) && !(await this.#lineage.check())) return true;
    await etcd.revoke(this.#lease);
    return false;
  }

  async shards(): Promise<ShardView[]> {
    const { etcd } = this.#options;
    const promised = new Map((await etcd.under(this.#shardKey(""))).map(({ key, value }) => [key, value]));
    const rows = await this.#table.read();
    return rows.map((row) => ({ ...row, promisedTo: promised.get(this.#shardKey(row.id)) ?? null }));
  }

  /** Rows first: whoever has one was in etcd before. */
  async members(nodeId: string): Promise<Member[]> {
    const { etcd, nodes, clock } = this.#options;
    const rows = await nodes.list();
    const members = (await etcd.under(this.#nodeKey(""))).map((entry) => this.#toMember(entry));
    this.#signs.see(
      rows.map(({ id, heartbeat }) => ({ id, sign: heartbeat })),
      clock.monotonic(),
    );
    const living = new Set(members.map((member) => member.id));
    await this.#bury(rows.filter((row) => !living.has(row.id)));
    this.#roll.call(members, nodeId);
    return members;
  }

  /** Nothing once the lease has ended: the next pass sees that, and the node joins again. */
  async take(nodeId: string, seen: readonly HeldShard[]): Promise<HeldShard[]> {
    const wanted = seen.map((shard) => ({ key: this.#shardKey(shard.id), value: nodeId }));
    const won = new Set((await this.#options.etcd.create(wanted, this.#lease)).map((entry) => entry.key));
    const promised = seen.filter((shard) => won.has(this.#shardKey(shard.id)));
    return promised.length === 0 ? [] : this.#options.shards.take(nodeId, promised);
  }

  /** The row first: what is no longer promised must no longer be written. */
  async drop(nodeId: string, shards: readonly number[]): Promise<void> {
    await this.#options.shards.drop(nodeId, shards);
    await this.#options.etcd.remove(shards.map((id) => ({ key: this.#shardKey(id), value: nodeId })));
  }

  async leave(nodeId: string): Promise<void> {
    const { etcd, nodes, shards } = this.#options;
    await shards.release(nodeId);
    await nodes.remove(nodeId, null);
    await etcd.revoke(this.#lease);
  }

  /** A lease may end before anything is put under it: the process was halted, or etcd lost it. Nobody knew of it: another serves. */
  async #enter(nodeId: string, report: NodeReport): Promise<void> {
    const { etcd, leaseMs } = this.#options;
    for (let tried = 0; tried < mostLeases; tried++) {
      this.#lease = await etcd.grant(leaseMs);
      this.#said = "";
      if (await this.#say(nodeId, report)) return;
    }
    throw new CarillonError("etcd_unavailable", `etcd let ${mostLeases} new leases end before they were used.`);
  }

  /** false: the lease has ended. */
  async #say(nodeId: string, { takesShards }: NodeReport): Promise<boolean> {
    const value = JSON.stringify({ name: this.#options.node.name, takesShards });
    if (value === this.#said) return true;
    if (!(await this.#options.etcd.put({ key: this.#nodeKey(nodeId), value }, this.#lease))) return false;
    this.#said = value;
    return true;
  }

  async #bury(rows: readonly NodeRow[]): Promise<void> {
    for (const { id, name, heartbeat } of rows) {
      if (!(await this.#options.nodes.remove(id, heartbeat))) continue;
      this.#roll.strike(id);
      this.#options.onEvent({ type: "node.dead", nodeId: id, name, by: "expired_lease" });
    }
  }

  #toMember({ key, value }: Entry): Member {
    const said: Json = JSON.parse(value);
    return {
      id: key.slice(this.#nodeKey("").length),
      name: text(field(said, "name")),
      takesShards: field(said, "takesShards") === true,
    };
  }

  #nodeKey(id: string): string {
    return `${this.#options.prefix}/node/${id}`;
  }

  #shardKey(id: number | ""): string {
    return `${this.#options.prefix}/shard/${id}`;
  }
}
