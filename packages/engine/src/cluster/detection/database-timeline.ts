import type { OnEngineEvent } from "../../events.js";
import { type LineageRow, type ShardStore, sqlStateOf } from "@carillon/store";

const insufficientPrivilege = "42501";
const undefinedFunction = "42883";

/**
 * Notices that the database is in another history than the one the shards were owned in: another timeline after a failover
 * or a restore, another server after a dump was loaded, an earlier state of the same files. Whoever notices voids all leases.
 */
export class LineageWatch {
  readonly #shards: ShardStore;
  readonly #onEvent: OnEngineEvent;
  #flushed = 0n;
  #usable = true;

  constructor(shards: ShardStore, onEvent: OnEngineEvent) {
    this.#shards = shards;
    this.#onEvent = onEvent;
  }

  /** One look; voids what must be voided, and answers whether it did. */
  async check(): Promise<boolean> {
    const row = await this.#look();
    if (row === null) return false;
    const { lineage, remembered } = row;
    const flushed = BigInt(row.flushed);
    const wentBack = flushed < this.#flushed;
    if (remembered === null) await this.#shards.rememberLineage(lineage);
    const isOther = remembered !== null && (remembered !== lineage || wentBack);
    const voided = isOther && (await this.#shards.voidAll(lineage, remembered));
    if (voided) this.#onEvent({ type: "leases.voided", lineage, remembered });
    this.#flushed = flushed;
    return voided;
  }

  /** A server that does not show its identity leaves the fence of owner and epoch, which is enough to be safe. */
  async #look(): Promise<LineageRow | null> {
    if (!this.#usable) return null;
    try {
      return await this.#shards.lineage();
    } catch (reason) {
      const sqlState = sqlStateOf(reason);
      if (sqlState !== insufficientPrivilege && sqlState !== undefinedFunction) throw reason;
      this.#usable = false;
      this.#onEvent({ type: "lineage.unknown", reason });
      return null;
    }
  }
}
