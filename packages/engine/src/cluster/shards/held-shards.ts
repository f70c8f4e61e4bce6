import type { HeldShard } from "@carillon/store";
import type { ShardChange } from "../coordinator.js";
import type { ShardView } from "../registry.js";

const nothing: ShardChange = { gained: [], lost: [] };

/**
 * The shards that a node holds, each with the epoch under which it does, and which of that its caller was told. Most passes find what the
 * one before left: then nothing is made anew.
 */
export class HeldShards {
  readonly #epochs = new Map<number, number>();
  #ids: readonly number[] | null = null;
  #told: ReadonlyMap<number, number> = new Map();
  #isTold = true;
  /** What the registry showed, while nothing was taken or given up since. */
  #adopted: readonly ShardView[] | null = null;

  get epochs(): ReadonlyMap<number, number> {
    return this.#epochs;
  }

  /** The same array for as long as nothing moves. */
  get ids(): readonly number[] {
    return (this.#ids ??= [...this.#epochs.keys()]);
  }

  /** What the registry says is held is held, whatever this node remembers: an answer may have been lost. */
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

  /** What is different from what the caller was last told, failed passes in between included. */
  tell(): ShardChange {
    if (this.#isTold) return nothing;
    const before = this.#told;
    const now = new Map(this.#epochs);
    this.#told = now;
    this.#isTold = true;
    return {
      gained: [...now].filter(([id, epoch]) => before.get(id) !== epoch).map(([id, epoch]) => ({ id, epoch })),
      lost: [...before].filter(([id, epoch]) => now.get(id) !== epoch).map(([id]) => id),
    };
  }

  #moved(): void {
    this.#ids = null;
    this.#isTold = false;
    this.#adopted = null;
  }
}
