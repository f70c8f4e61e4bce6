import type { OnEngineEvent } from "../../events.js";
import { type TimelineRow, type ShardStore, sqlStateOf } from "@carillon/store";

const insufficientPrivilege = "42501";
const undefinedFunction = "42883";

/**
 * Detects a failover, restore or clone of the database and voids all leases, sessions and claims: another timeline, another server, or an
 * earlier state of the same files than the one in which the shards were taken.
 */
export class DatabaseTimeline {
  readonly #shards: ShardStore;
  readonly #onEvent: OnEngineEvent;
  #flushed = 0n;
  #fences: number | null = null;
  #usable = true;

  /** `fences`: the high part of fences that this process has read before. */
  constructor(shards: ShardStore, onEvent: OnEngineEvent, fences: number | null = null) {
    this.#shards = shards;
    this.#onEvent = onEvent;
    this.#fences = fences;
  }

  /** The high part of fences as last read. */
  get fences(): number | null {
    return this.#fences;
  }

  /** Returns whether what this node remembers is void, because it or another node voided the leases since its last check. */
  async check(): Promise<boolean> {
    const row = await this.#read();
    if (row === null) return false;
    const { timeline, remembered, fences } = row;
    const flushed = BigInt(row.flushed);
    const wentBack = flushed < this.#flushed;
    if (remembered === null) await this.#shards.rememberTimeline(timeline);
    const isOther = remembered !== null && (remembered !== timeline || wentBack);
    const voided = isOther && (await this.#shards.voidAll({ timeline, remembered, fences }, this.#fences ?? 0));
    if (voided) this.#onEvent({ type: "database.timeline_changed", timeline, previous: remembered });
    const now = voided ? (await this.#shards.timeline()).fences : fences;
    const before = this.#fences;
    this.#fences = now;
    this.#flushed = flushed;
    return before !== null && before !== now;
  }

  /** null: the server does not show its identity. The fence of owner and epoch remains, which is enough to be safe. */
  async #read(): Promise<TimelineRow | null> {
    if (!this.#usable) return null;
    try {
      return await this.#shards.timeline();
    } catch (reason) {
      const sqlState = sqlStateOf(reason);
      if (sqlState !== insufficientPrivilege && sqlState !== undefinedFunction) throw reason;
      this.#usable = false;
      this.#onEvent({ type: "database.timeline_unknown", reason });
      return null;
    }
  }
}
