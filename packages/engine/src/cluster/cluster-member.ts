import type { Clock, DurationMs } from "@carillon/core";
import type { HeldShard, NodeReport } from "@carillon/store";
import type { Membership } from "../context.js";
import type { OnEngineEvent } from "../events.js";
import type { Member, Registry, ShardView } from "./registry.js";
import { type Coordinator, HeldShards, rotateForNode, type ShardChange, shardShare } from "./shards.js";

export interface MemberOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  /** How long a node without a new heartbeat keeps its shards. */
  readonly leaseMs: DurationMs;
  readonly skew: () => MeasuredSkew;
  /** A node whose clock is further off leaves its shards to nodes with correct clocks. */
  readonly skewToleranceMs: DurationMs;
  /** The database was failed over or restored: everything that this process remembers of it is void. */
  readonly onHistoryLost: () => void;
  readonly onEvent: OnEngineEvent;
}

/** The next pass follows soon after one in which other nodes took wanted shards first. */
const contendedMs = 50;

/** The rules of sharing, over any registry: each node owns an even share, and the shards of dead nodes are taken over. */
export class ClusterMember implements Coordinator {
  readonly #options: MemberOptions;
  readonly #registry: Registry;
  readonly #skew: ClockSkewMonitor;
  #nodeId: string;
  readonly #held = new HeldShards();
  #isContended = false;

  constructor(options: MemberOptions, registry: Registry) {
    this.#options = options;
    this.#registry = registry;
    this.#skew = new ClockSkewMonitor(options.skew, options.skewToleranceMs, options.onEvent);
    this.#nodeId = options.newId();
  }

  get membership(): Membership {
    return { nodeId: this.#nodeId, epochs: this.#held.epochs, shards: this.#held.ids };
  }

  get idleMs(): DurationMs {
    const usual = this.#options.leaseMs / 5;
    return Math.min(usual, this.#registry.nextCheckMs ?? usual, this.#isContended ? contendedMs : usual);
  }

  async join(): Promise<ShardChange> {
    await this.#announce();
    await this.#rebalance();
    return this.#held.takeChange();
  }

  async tick(): Promise<ShardChange> {
    try {
      if (!(await this.#registry.renew(this.#nodeId, this.#skew.report()))) await this.#joinAgain();
      await this.#rebalance();
    } catch (error) {
      this.#registry.forget();
      throw error;
    }
    return this.#held.takeChange();
  }

  async leave(): Promise<void> {
    this.#held.clear();
    await this.#registry.leave(this.#nodeId);
  }

  async #announce(): Promise<void> {
    await this.#registry.announce(this.#nodeId, this.#skew.report());
    this.#options.onEvent({ type: "node.joined", nodeId: this.#nodeId, name: this.#options.node.name });
  }

  /** Other nodes declared this incarnation dead and may take its shards: it joins again as a new one. */
  async #joinAgain(): Promise<void> {
    this.#held.clear();
    this.#registry.forget();
    this.#nodeId = this.#options.newId();
    await this.#announce();
  }

  /** Reads the shards before the members: the owner of a shard was a member by then, so a live owner is never missing from the members. */
  async #rebalance(): Promise<void> {
    const shards = await this.#registry.shards();
    const members = await this.#registry.members(this.#nodeId);
    this.#held.adopt(shards, this.#nodeId);
    const sharing = sharingOf(members);
    const share = shardShare(shards.length, sharing, this.#nodeId);
    await this.#dropSurplus(shards, share);
    const alive = new Set(members.map((member) => member.id));
    const free = shards.filter((shard) => this.#isFree(shard, alive));
    await this.#take(rotateForNode(free, sharing, this.#nodeId).slice(0, Math.max(0, share - this.#held.epochs.size)));
  }

  #isFree({ owner, promisedTo }: ShardView, alive: ReadonlySet<string>): boolean {
    if (promisedTo === this.#nodeId) return owner !== this.#nodeId;
    return promisedTo === null || !alive.has(promisedTo);
  }

  /** Shards that were promised but never owned are given up first. */
  async #dropSurplus(shards: readonly ShardView[], share: number): Promise<void> {
    const { epochs, ids } = this.#held;
    const promised = shards.filter((shard) => shard.promisedTo === this.#nodeId && !epochs.has(shard.id));
    if (ids.length + promised.length <= share) return;
    const surplus = [...ids, ...promised.map((shard) => shard.id)].slice(share);
    this.#held.lose(surplus);
    await this.#registry.drop(this.#nodeId, surplus);
  }

  async #take(wanted: readonly ShardView[]): Promise<void> {
    this.#isContended = false;
    if (wanted.length === 0) return;
    const gained = await this.#registry.take(this.#nodeId, wanted);
    this.#held.gain(gained);
    this.#isContended = gained.length < wanted.length;
    this.#reportTakeovers(wanted, gained);
  }

  #reportTakeovers(wanted: readonly ShardView[], gained: readonly HeldShard[]): void {
    const won = new Set(gained.map((shard) => shard.id));
    const counts = new Map<string, number>();
    for (const { id, owner } of wanted) {
      if (owner !== null && owner !== this.#nodeId && won.has(id)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    for (const [fromNodeId, shards] of counts) {
      const lastHeartbeatAt = this.#registry.lastHeartbeatAt(fromNodeId);
      const takeoverMs = lastHeartbeatAt === undefined ? null : this.#options.clock.monotonic() - lastHeartbeatAt;
      const nodes = { nodeId: this.#nodeId, fromNodeId };
      this.#options.onEvent({ type: "shards.taken_over", namespaceId: null, ...nodes, shards, takeoverMs });
    }
  }
}

/** Nodes with correct clocks share the shards. If no node has one, the database's clock is more likely wrong, and all nodes share them. */
function sharingOf(members: readonly Member[]): string[] {
  const right = members.filter((member) => member.takesShards);
  return (right.length > 0 ? right : members).map((member) => member.id);
}

export interface MeasuredSkew {
  /** The host's wall clock minus the database's. */
  readonly skewMs: DurationMs;
  /** The maximum error of the measurement. */
  readonly uncertaintyMs: DurationMs;
}

/** Checks this node's clock with each pass and emits an event when it leaves the tolerance or returns into it. */
export class ClockSkewMonitor {
  readonly #measure: () => MeasuredSkew;
  readonly #toleranceMs: DurationMs;
  readonly #onEvent: OnEngineEvent;
  #isSkewed = false;

  constructor(measure: () => MeasuredSkew, toleranceMs: DurationMs, onEvent: OnEngineEvent) {
    this.#measure = measure;
    this.#toleranceMs = toleranceMs;
    this.#onEvent = onEvent;
  }

  report(): NodeReport {
    const { skewMs, uncertaintyMs } = this.#measure();
    const isSkewed = Math.abs(skewMs) - uncertaintyMs > this.#toleranceMs;
    if (isSkewed !== this.#isSkewed) {
      this.#onEvent({ type: isSkewed ? "clock.skewed" : "clock.in_sync", skewMs, toleranceMs: this.#toleranceMs });
    }
    this.#isSkewed = isSkewed;
    return { skewMs, takesShards: !isSkewed };
  }
}
