import type { DurationMs } from "@carillon/core";
import type { NodeRow, NodeStore } from "../../store/entities/nodes.js";
import type { HeldShard, ShardRow, ShardStore } from "../../store/entities/shards.js";
import type { HostClock } from "../../store/db/ports.js";
import type { Coordinator, Membership, ShardChange } from "../port.js";
import { SilenceWatch } from "../silence.js";
import { quotaOf } from "./quota.js";

export interface PostgresCoordinatorOptions {
  readonly nodes: NodeStore;
  readonly shards: ShardStore;
  readonly clock: HostClock;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  readonly leaseMs: DurationMs;
  /** This node's skew to the database, reported with each heartbeat. */
  readonly skewMs: () => DurationMs;
  /** No other node can be alive: an embedded database has one owner, known by its data folder. Saves the lease time after a crash. */
  readonly alone: boolean;
}

/** Membership and shard ownership as rows: one heartbeat row per node, a shard row changes only when it moves. */
export class PostgresCoordinator implements Coordinator {
  readonly #options: PostgresCoordinatorOptions;
  #watch: SilenceWatch;
  #nodeId: string;
  readonly #held = new Map<number, number>();

  constructor(options: PostgresCoordinatorOptions) {
    this.#options = options;
    this.#nodeId = options.newId();
    this.#watch = this.#newWatch();
  }

  get membership(): Membership {
    return { nodeId: this.#nodeId, epochs: this.#held };
  }

  async join(): Promise<ShardChange> {
    const { nodes, node, alone } = this.#options;
    await nodes.register({ id: this.#nodeId, ...node });
    if (alone) await this.#removeAll((await nodes.list()).filter((other) => other.id !== this.#nodeId));
    return this.#rebalance();
  }

  async tick(): Promise<ShardChange> {
    const alive = await this.#options.nodes.heartbeat(this.#nodeId, this.#options.skewMs());
    if (!alive) return this.#joinAgain();
    return this.#rebalance();
  }

  async leave(): Promise<void> {
    this.#held.clear();
    await this.#options.shards.release(this.#nodeId);
    await this.#options.nodes.remove(this.#nodeId, null);
  }

  /** Others declared this incarnation dead: what it held is theirs, and it comes back as a new one. */
  async #joinAgain(): Promise<ShardChange> {
    const lost = [...this.#held.keys()];
    this.#held.clear();
    this.#nodeId = this.#options.newId();
    this.#watch = this.#newWatch();
    await this.#options.nodes.register({ id: this.#nodeId, ...this.#options.node });
    const { gained } = await this.#rebalance();
    return { gained, lost };
  }

  async #rebalance(): Promise<ShardChange> {
    const { nodes, shards, clock } = this.#options;
    const known = await nodes.list();
    const others = known.filter((node) => node.id !== this.#nodeId);
    const dead = await this.#removeAll(this.#watch.observe(others, clock.monotonic()));
    const alive = known.filter((node) => !dead.has(node.id)).map((node) => node.id);
    const rows = await shards.list();
    const lost = this.#forgetMoved(rows);
    const quota = quotaOf(rows.length, alive, this.#nodeId);
    const surplus = [...this.#held.keys()].slice(quota);
    if (surplus.length > 0) lost.push(...(await this.#drop(surplus)));
    const gained = await this.#take(rows, new Set(alive), quota - this.#held.size);
    return { gained, lost };
  }

  async #removeAll(silent: readonly NodeRow[]): Promise<Set<string>> {
    const removed = new Set<string>();
    for (const node of silent) {
      if (await this.#options.nodes.remove(node.id, node.heartbeat)) removed.add(node.id);
    }
    return removed;
  }

  #forgetMoved(rows: readonly ShardRow[]): number[] {
    const moved = rows.filter((row) => this.#held.has(row.id) && row.owner !== this.#nodeId).map((row) => row.id);
    for (const id of moved) this.#held.delete(id);
    return moved;
  }

  async #drop(surplus: readonly number[]): Promise<number[]> {
    const dropped = await this.#options.shards.drop(this.#nodeId, surplus);
    for (const id of surplus) this.#held.delete(id);
    return dropped;
  }

  async #take(rows: readonly ShardRow[], alive: ReadonlySet<string>, room: number): Promise<HeldShard[]> {
    if (room <= 0) return [];
    const free = rows.filter((row) => row.owner === null || !alive.has(row.owner)).slice(0, room);
    if (free.length === 0) return [];
    const gained = await this.#options.shards.take(this.#nodeId, free);
    for (const shard of gained) this.#held.set(shard.id, shard.epoch);
    return gained;
  }

  #newWatch(): SilenceWatch {
    return new SilenceWatch({ limitMs: this.#options.leaseMs, longestGapMs: this.#options.leaseMs });
  }
}
