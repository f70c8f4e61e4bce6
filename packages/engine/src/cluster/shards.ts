import type { DurationMs } from "@carillon/core";
import type { Fence, HeldShard, ShardRow, ShardStore } from "@carillon/store";
import type { Membership } from "../context.js";
import type { ShardView } from "./registry.js";

/** A view of a map that may change: reading `shards` reads the map. */
export function membershipOf(nodeId: string, epochs: ReadonlyMap<number, number>): Membership {
  return {
    nodeId,
    epochs,
    get shards() {
      return [...epochs.keys()];
    },
  };
}

/** The difference to the last pass that succeeded. A shard that returned under a new epoch is in both lists. */
export interface ShardChange {
  readonly gained: readonly HeldShard[];
  readonly lost: readonly number[];
}

/**
 * Decides which shards this node works on. Only an economy: two nodes that both believe to own a shard do no harm,
 * because every write for a shard compares owner and epoch in its statement.
 */
export interface Coordinator {
  /** Registers the node and takes free shards. */
  join(): Promise<ShardChange>;
  /** One pass: sends the node's heartbeat, checks the other nodes, takes and gives up shards. */
  tick(): Promise<ShardChange>;
  /** Releases every shard before the node stops. */
  leave(): Promise<void>;
  readonly membership: Membership;
  /** After how long the next pass is due, at the latest. */
  readonly idleMs: DurationMs;
}

/** Who this node is for these rows. Rows of a shard that it no longer owns match no fence. */
export function fenceOf({ nodeId, epochs }: Membership, rows: readonly { readonly shard: number }[]): Fence {
  const shards = [...new Set(rows.map((row) => row.shard))].flatMap((id) => {
    const epoch = epochs.get(id);
    return epoch === undefined ? [] : [{ id, epoch }];
  });
  return { node: nodeId, shards };
}

const nothing: ShardChange = { gained: [], lost: [] };

/**
 * The shards that a node holds, each with its epoch, and which of them were reported to the caller. Most passes change nothing and
 * allocate nothing.
 */
export class HeldShards {
  readonly #epochs = new Map<number, number>();
  #ids: readonly number[] | null = null;
  #reported: ReadonlyMap<number, number> = new Map();
  #isReported = true;
  /** The last view of the registry, until a shard is taken or given up. */
  #adopted: readonly ShardView[] | null = null;

  get epochs(): ReadonlyMap<number, number> {
    return this.#epochs;
  }

  /** The same array until a shard moves. */
  get ids(): readonly number[] {
    return (this.#ids ??= [...this.#epochs.keys()]);
  }

  /** Replaces this node's memory by the registry's view: the result of a take may have been lost. */
  adopt(shards: readonly ShardView[], nodeId: string): void {
    if (shards === this.#adopted) return;
    this.clear();
    for (const { id, owner, promisedTo, epoch } of shards) {
      if (owner === nodeId && promisedTo === nodeId) this.#epochs.set(id, epoch);
    }
    this.#adopted = shards;
  }

  gain(shards: readonly HeldShard[]): void {
    this.#moved();
    for (const { id, epoch } of shards) this.#epochs.set(id, epoch);
  }

  lose(ids: readonly number[]): void {
    this.#moved();
    for (const id of ids) this.#epochs.delete(id);
  }

  clear(): void {
    this.#moved();
    this.#epochs.clear();
  }

  /** The difference to the last report, including changes by passes that failed since. */
  takeChange(): ShardChange {
    if (this.#isReported) return nothing;
    const before = this.#reported;
    const now = new Map(this.#epochs);
    this.#reported = now;
    this.#isReported = true;
    return {
      gained: [...now].filter(([id, epoch]) => before.get(id) !== epoch).map(([id, epoch]) => ({ id, epoch })),
      lost: [...before].filter(([id, epoch]) => now.get(id) !== epoch).map(([id]) => id),
    };
  }

  #moved(): void {
    this.#ids = null;
    this.#isReported = false;
    this.#adopted = null;
  }
}

/** How many shards this node should own: an even spread; the first nodes by id get the remainder. */
export function shardShare(shards: number, sharing: readonly string[], nodeId: string): number {
  const position = positionOf(sharing, nodeId);
  if (position === -1) return 0;
  const base = Math.floor(shards / sharing.length);
  return base + (position < shards % sharing.length ? 1 : 0);
}

/**
 * The order in which a node takes free shards: each node begins at another position, so that nodes that detect a death at the
 * same moment do not all try to take the same shards.
 */
export function rotateForNode<Shard>(free: readonly Shard[], sharing: readonly string[], nodeId: string): Shard[] {
  const start = Math.floor((Math.max(0, positionOf(sharing, nodeId)) * free.length) / Math.max(1, sharing.length));
  return [...free.slice(start), ...free.slice(0, start)];
}

function positionOf(sharing: readonly string[], nodeId: string): number {
  return [...sharing].sort().indexOf(nodeId);
}

/**
 * The rows of all shards, read again only after a shard moved. The counter of moves is read before the rows: newer rows may be
 * read once too often, and older rows are never cached under a newer counter.
 */
export class ShardTable {
  readonly #shards: Pick<ShardStore, "list" | "moves">;
  #moves: string | null = null;
  #rows: readonly ShardRow[] = [];

  constructor(shards: Pick<ShardStore, "list" | "moves">) {
    this.#shards = shards;
  }

  /** The same array until a shard moves. */
  async read(): Promise<readonly ShardRow[]> {
    const moves = await this.#shards.moves();
    if (moves === this.#moves) return this.#rows;
    this.#rows = await this.#shards.list();
    this.#moves = moves;
    return this.#rows;
  }
}

/** The shard of a job, or of a run without a job: the last bits of its id, which are random in every UUID that Carillon creates. */
export function shardOf(uuid: string, shards: number): number {
  return Number.parseInt(uuid.slice(-6), 16) % shards;
}
