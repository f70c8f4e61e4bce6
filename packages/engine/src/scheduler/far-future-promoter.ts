import type { DurationMs, Instant } from "@carillon/core";
import type { OnEngineEvent } from "../events.js";
import { type DueRun, type LaterStore, type MovedRun, type Queued } from "@carillon/store";
import { type LaterLimits, defaultLaterLimits } from "../options.js";
import type { Membership } from "../context.js";

export interface LaterMoverOptions {
  readonly later: Pick<LaterStore, "look" | "move">;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly onQueued: (queued: readonly Queued[]) => void;
  readonly onDueRuns: (runs: readonly DueRun[]) => void;
  readonly onEvent: OnEngineEvent;
  readonly limits?: Partial<LaterLimits>;
}

export interface MoveReport {
  /** Shards that were looked at. */
  readonly looked: number;
  readonly moved: number;
}

/**
 * Brings one-off jobs from run_later into the hot table shortly before their time, in the shards this node owns. One tick
 * is at most one look and one move; somebody else paces it. The dead index entries of what was moved are not walked
 * again: each shard is read from where the last move ended, and from its beginning only by the full look.
 */
export class LaterMover {
  readonly #options: LaterMoverOptions;
  readonly #limits: LaterLimits;
  /** Where a shard is read from: what was due before has been moved. */
  readonly #from = new Map<number, Instant>();
  /** Shards with something to move, and since when it is due. */
  readonly #due = new Map<number, Instant>();
  /** Shards in which a look saw a run that no move has tried to bring since. */
  readonly #seen = new Set<number>();
  #nextLook: Instant;
  #nextFullLook: Instant;
  #lastMoveMs: DurationMs = 0;

  constructor(options: LaterMoverOptions) {
    this.#options = options;
    this.#limits = { ...defaultLaterLimits, ...options.limits };
    this.#nextLook = this.#nextFullLook = options.now();
  }

  async tick(): Promise<MoveReport> {
    const looked = await this.#look();
    return { looked, moved: await this.#move() };
  }

  /** How long the next tick can wait. While there is time to spare, moves leave half of it to others. */
  get idleMs(): DurationMs {
    const now = this.#options.now();
    if (this.#due.size === 0) return Math.min(this.#limits.lookMs, Math.max(0, this.#nextLook - now));
    const isUrgent = Math.min(...this.#due.values()) < now + this.#limits.leadMs / 2;
    return isUrgent ? 0 : this.#lastMoveMs;
  }

  /** These shards have just become ours: nothing is known of them. */
  hintShards(shards: readonly number[]): void {
    this.forgetShards(shards);
    this.#nextLook = this.#options.now();
  }

  forgetShards(shards: readonly number[]): void {
    for (const shard of shards) {
      this.#from.delete(shard);
      this.#due.delete(shard);
      this.#seen.delete(shard);
    }
  }

  async #look(): Promise<number> {
    const now = this.#options.now();
    const wentBack = this.#nextLook > now + this.#limits.lookMs;
    if (now < this.#nextLook && !wentBack) return 0;
    this.#nextLook = now + this.#limits.lookMs;
    const isFull = wentBack || now >= this.#nextFullLook;
    const held = this.#options.membership().shards;
    const shards = isFull ? held : held.filter((shard) => !this.#due.has(shard));
    if (shards.length === 0) return 0;
    const until = now + this.#limits.leadMs;
    try {
      for (let first = 0; first < shards.length; first += this.#limits.shardsPerLook) {
        await this.#lookAt(shards.slice(first, first + this.#limits.shardsPerLook), until, isFull);
      }
    } finally {
      // Also after one that failed: the looks from where the moves ended must go on.
      const end = this.#options.now();
      if (isFull) this.#nextFullLook = end + Math.max(this.#limits.fullLookMs, 20 * (end - now));
    }
    return shards.length;
  }

  async #lookAt(shards: readonly number[], until: Instant, isFull: boolean): Promise<void> {
    const from = shards.map((shard) => ({ shard, from: isFull ? 0 : (this.#from.get(shard) ?? 0) }));
    const found = new Map((await this.#options.later.look(from, until)).map((one) => [one.shard, one.from]));
    for (const shard of shards) this.#note(shard, found.get(shard), until);
  }

  #note(shard: number, firstDue: Instant | undefined, until: Instant): void {
    if (firstDue === undefined) {
      this.#from.set(shard, until);
      this.#due.delete(shard);
    } else {
      this.#due.set(shard, firstDue);
      this.#seen.add(shard);
    }
  }

  /** The shards whose runs are due first go first: after a long stop what is overdue is moved before the rest. */
  async #move(): Promise<number> {
    const { nodeId, epochs } = this.#options.membership();
    const first = [...this.#due].sort(([, a], [, b]) => a - b).slice(0, this.#limits.shardsPerMove);
    const shards = first.flatMap(([id]) => {
      const epoch = epochs.get(id);
      return epoch === undefined ? [] : [{ id, epoch }];
    });
    for (const [id] of first) if (!epochs.has(id)) this.#due.delete(id);
    if (shards.length === 0) return 0;
    const now = this.#options.now();
    const until = now + this.#limits.leadMs;
    const limit = Math.ceil(this.#limits.batch / shards.length);
    const moved = await this.#options.later.move({ node: nodeId, shards }, this.#due, until, limit);
    this.#lastMoveMs = Math.max(0, this.#options.now() - now);
    const ids = shards.map((shard) => shard.id);
    this.#goOn(ids, moved, { until, limit });
    this.#announce(moved);
    return moved.length;
  }

  /**
   * A shard that gave as many as it might has perhaps more, from the last of them on; the others are done until the next
   * look. One that gave nothing although a run was seen in it was refused (its fence is old, the run locked or taken), and
   * is read again from where it was.
   */
  #goOn(
    shards: readonly number[],
    moved: readonly MovedRun[],
    { until, limit }: { until: Instant; limit: number },
  ): void {
    const ends = new Map<number, { count: number; last: Instant }>();
    for (const { shard, runAt } of moved) {
      const end = ends.get(shard);
      ends.set(shard, { count: (end?.count ?? 0) + 1, last: Math.max(end?.last ?? 0, runAt) });
    }
    let refused = 0;
    for (const shard of shards) {
      const end = ends.get(shard);
      if (end !== undefined && end.count >= limit) this.#due.set(shard, end.last);
      else this.#due.delete(shard);
      if (end === undefined && this.#seen.has(shard)) refused++;
      else if (!this.#due.has(shard)) this.#from.set(shard, until);
      this.#seen.delete(shard);
    }
    if (refused > 0) this.#options.onEvent({ type: "write.refused", statement: "later.move", count: refused });
  }

  #announce(moved: readonly MovedRun[]): void {
    if (moved.length === 0) return;
    this.#options.onQueued(moved.filter((run) => run.state === "queued"));
    const waiting = moved.filter((run) => run.state === "scheduled");
    if (waiting.length > 0) this.#options.onDueRuns(waiting);
    this.#options.onEvent({ type: "runs.moved", count: moved.length });
  }
}
