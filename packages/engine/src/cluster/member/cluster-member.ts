import type { Clock, DurationMs } from "@carillon/core";
import type { OnEngineEvent } from "../../events.js";
import type { HeldShard } from "@carillon/store";
import { HeldShards } from "../shards/held-shards.js";
import type { Coordinator, ShardChange } from "../coordinator.js";
import { inOwnOrder, quotaOf } from "../shards/shard-share.js";
import type { Member, Registry, ShardView } from "../registry.js";
import { type MeasuredSkew, SkewJudge } from "../detection/clock-skew.js";
import type { Membership } from "../../context.js";

export interface MemberOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly node: { readonly name: string; readonly address: string | null; readonly version: string };
  /** How long a silent node keeps its shards. */
  readonly leaseMs: DurationMs;
  readonly skew: () => MeasuredSkew;
  /** A node whose clock is further off leaves the shards to those whose clocks are right. */
  readonly skewToleranceMs: DurationMs;
  readonly onEvent: OnEngineEvent;
}

/** Another pass comes soon after one in which others were faster. */
const contendedMs = 50;

/** The rules of sharing, over any registry: everyone has its even part, and whoever is gone is replaced. */
export class ClusterMember implements Coordinator {
  readonly #options: MemberOptions;
  readonly #registry: Registry;
  readonly #skew: SkewJudge;
  #nodeId: string;
  readonly #held = new HeldShards();
  #contended = false;

  constructor(options: MemberOptions, registry: Registry) {
    this.#options = options;
    this.#registry = registry;
    this.#skew = new SkewJudge(options.skew, options.skewToleranceMs, options.onEvent);
    this.#nodeId = options.newId();
  }

  get membership(): Membership {
    return { nodeId: this.#nodeId, epochs: this.#held.epochs, shards: this.#held.ids };
  }

  get idleMs(): DurationMs {
    const usual = this.#options.leaseMs / 5;
    return Math.min(usual, this.#registry.nextLookMs ?? usual, this.#contended ? contendedMs : usual);
  }

  async join(): Promise<ShardChange> {
    await this.#announce();
    await this.#rebalance();
    return this.#held.tell();
  }

  async tick(): Promise<ShardChange> {
    try {
      if (!(await this.#registry.renew(this.#nodeId, this.#skew.report()))) await this.#joinAgain();
      await this.#rebalance();
    } catch (error) {
      this.#registry.forget();
      throw error;
    }
    return this.#held.tell();
  }

  async leave(): Promise<void> {
    this.#held.clear();
    await this.#registry.leave(this.#nodeId);
  }

  async #announce(): Promise<void> {
    await this.#registry.announce(this.#nodeId, this.#skew.report());
    this.#options.onEvent({ type: "node.joined", nodeId: this.#nodeId, name: this.#options.node.name });
  }

  /** Others declared this incarnation dead: what it held is theirs, and it comes back as a new one. */
  async #joinAgain(): Promise<void> {
    this.#held.clear();
    this.#registry.forget();
    this.#nodeId = this.#options.newId();
    await this.#announce();
  }

  /** The shards are read before the members: whoever owns one was a member by then, and is not taken for a stranger. */
  async #rebalance(): Promise<void> {
    const shards = await this.#registry.shards();
    const members = await this.#registry.members(this.#nodeId);
    this.#held.adopt(shards, this.#nodeId);
    const sharing = sharingOf(members);
    const quota = quotaOf(shards.length, sharing, this.#nodeId);
    await this.#dropSurplus(shards, quota);
    const alive = new Set(members.map((member) => member.id));
    const free = shards.filter((shard) => this.#isFree(shard, alive));
    await this.#take(inOwnOrder(free, sharing, this.#nodeId).slice(0, Math.max(0, quota - this.#held.epochs.size)));
  }

  #isFree({ owner, promisedTo }: ShardView, alive: ReadonlySet<string>): boolean {
    if (promisedTo === this.#nodeId) return owner !== this.#nodeId;
    return promisedTo === null || !alive.has(promisedTo);
  }

  /** What was promised and never owned goes first. */
  async #dropSurplus(shards: readonly ShardView[], quota: number): Promise<void> {
    const { epochs, ids } = this.#held;
    const promised = shards.filter((shard) => shard.promisedTo === this.#nodeId && !epochs.has(shard.id));
    if (ids.length + promised.length <= quota) return;
    const surplus = [...ids, ...promised.map((shard) => shard.id)].slice(quota);
    this.#held.lose(surplus);
    await this.#registry.drop(this.#nodeId, surplus);
  }

  async #take(wanted: readonly ShardView[]): Promise<void> {
    this.#contended = false;
    if (wanted.length === 0) return;
    const gained = await this.#registry.take(this.#nodeId, wanted);
    this.#held.gain(gained);
    this.#contended = gained.length < wanted.length;
    this.#reportTakeovers(wanted, gained);
  }

  #reportTakeovers(wanted: readonly ShardView[], gained: readonly HeldShard[]): void {
    const won = new Set(gained.map((shard) => shard.id));
    const counts = new Map<string, number>();
    for (const { id, owner } of wanted) {
      if (owner !== null && owner !== this.#nodeId && won.has(id)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    for (const [from, count] of counts) {
      const sign = this.#registry.lastSignOf(from);
      const durationMs = sign === undefined ? null : this.#options.clock.monotonic() - sign;
      this.#options.onEvent({ type: "shards.taken_over", nodeId: this.#nodeId, from, count, durationMs });
    }
  }
}

/** Those whose clocks are right share the shards; when nobody's is, the database's own is the likelier fault, and all do. */
function sharingOf(members: readonly Member[]): string[] {
  const right = members.filter((member) => member.takesShards);
  return (right.length > 0 ? right : members).map((member) => member.id);
}
