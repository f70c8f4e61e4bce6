import type { DurationMs } from "@carillon/core";
import type { NodeRow } from "@carillon/store";

type Watched = Pick<NodeRow, "id" | "heartbeat" | "locked" | "serverStart">;

/** A lock that is free for a moment may only be moving to a new session. */
const confirmMs: DurationMs = 500;

/**
 * Detects a killed process by the lock that its session held. A free lock counts only if this node saw that incarnation hold it,
 * it is still free half a second later without a heartbeat in between, the server is the same, and this node's own lock was held
 * throughout, because a fault that freed this node's lock may have freed the others. A held lock proves nothing: it never extends
 * a lease.
 */
export class SessionLockMonitor {
  readonly #seenHeld = new Set<string>();
  readonly #freeSince = new Map<string, { heartbeat: string; since: DurationMs }>();
  #serverStart: string | undefined;

  /** Takes a successful read; returns the ids of the nodes whose processes are dead. */
  observe(nodeId: string, read: readonly Watched[], times: { asked: DurationMs; answered: DurationMs }): Set<string> {
    const own = read.find((one) => one.id === nodeId);
    if (own?.locked !== true || own.serverStart !== this.#serverStart) this.forget();
    this.#serverStart = own?.serverStart;
    const freed = new Set<string>();
    if (own?.locked !== true) return freed;
    this.#keepOnly(new Set(read.map((one) => one.id)));
    for (const one of read) if (one.id !== nodeId && this.#isFreed(one, times)) freed.add(one.id);
    return freed;
  }

  /** After how long the first suspected death can be confirmed; null: there is none. */
  nextCheckMs(monotonic: DurationMs): DurationMs | null {
    if (this.#freeSince.size === 0) return null;
    const first = Math.min(...[...this.#freeSince.values()].map((free) => free.since));
    return Math.max(0, first + confirmMs - monotonic);
  }

  forget(): void {
    this.#seenHeld.clear();
    this.#freeSince.clear();
  }

  #isFreed(one: Watched, { asked, answered }: { asked: DurationMs; answered: DurationMs }): boolean {
    if (one.locked) {
      this.#seenHeld.add(one.id);
      this.#freeSince.delete(one.id);
      return false;
    }
    if (!this.#seenHeld.has(one.id)) return false;
    const free = this.#freeSince.get(one.id);
    if (free === undefined) {
      this.#freeSince.set(one.id, { heartbeat: one.heartbeat, since: answered });
      return false;
    }
    const isDead = free.heartbeat === one.heartbeat;
    if (isDead && asked - free.since < confirmMs) return false;
    // Decided: dead, or alive without its session. Its lock counts again after it is seen held again.
    this.#seenHeld.delete(one.id);
    this.#freeSince.delete(one.id);
    return isDead;
  }

  #keepOnly(present: ReadonlySet<string>): void {
    for (const id of this.#seenHeld) if (!present.has(id)) this.#seenHeld.delete(id);
    for (const id of this.#freeSince.keys()) if (!present.has(id)) this.#freeSince.delete(id);
  }
}
