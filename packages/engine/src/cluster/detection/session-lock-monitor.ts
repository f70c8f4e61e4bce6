import type { DurationMs } from "@carillon/core";
import type { NodeRow } from "@carillon/store";

type Watched = Pick<NodeRow, "id" | "heartbeat" | "locked" | "serverStart">;

/** A lock that is free for a moment may only have changed its session. */
const confirmMs: DurationMs = 500;

/**
 * Tells a killed process by the lock that its session held. A free lock is believed only if it was seen held by that
 * incarnation, is still free half a second later with no heartbeat in between, and the server is the same one; and only by
 * one whose own lock was held throughout, since whatever took that one may have taken the others. A held lock proves
 * nothing: it never extends a lease.
 */
export class FreedLocks {
  readonly #seenHeld = new Set<string>();
  readonly #freeSince = new Map<string, { heartbeat: string; since: DurationMs }>();
  #serverStart: string | undefined;

  /** Takes a successful read; answers whose process is gone. */
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

  /** How soon the first suspicion can be confirmed; null when there is none. */
  nextLookMs(monotonic: DurationMs): DurationMs | null {
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
    const silent = free.heartbeat === one.heartbeat;
    if (silent && asked - free.since < confirmMs) return false;
    // Judged: gone, or alive without its session. Its lock means something again when it is seen held again.
    this.#seenHeld.delete(one.id);
    this.#freeSince.delete(one.id);
    return silent;
  }

  #keepOnly(present: ReadonlySet<string>): void {
    for (const id of this.#seenHeld) if (!present.has(id)) this.#seenHeld.delete(id);
    for (const id of this.#freeSince.keys()) if (!present.has(id)) this.#freeSince.delete(id);
  }
}
