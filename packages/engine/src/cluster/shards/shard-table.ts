import type { ShardRow, ShardStore } from "@carillon/store";

/**
 * The rows of all shards, read again only when something moved. What tells so is read before them: rows that are newer than it are
 * read once more, and older ones are never kept under it.
 */
export class ShardTable {
  readonly #shards: Pick<ShardStore, "list" | "moves">;
  #moves: string | null = null;
  #rows: readonly ShardRow[] = [];

  constructor(shards: Pick<ShardStore, "list" | "moves">) {
    this.#shards = shards;
  }

  /** The same array for as long as nothing moves. */
  async read(): Promise<readonly ShardRow[]> {
    const moves = await this.#shards.moves();
    if (moves === this.#moves) return this.#rows;
    this.#rows = await this.#shards.list();
    this.#moves = moves;
    return this.#rows;
  }
}
