import type { ClaimStore } from "@carillon/store";
import type { WorkerSession } from "../sessions/worker-session.js";
import { type LaneCursor, lowestRank } from "./lane-cursors.js";
import type { LaneGroup } from "./lane-groups.js";

export interface SlotReserverOptions {
  readonly claims: Pick<ClaimStore, "areWaiting">;
  readonly groups: () => Iterable<LaneGroup>;
}

/**
 * Keeps heavy runs from starving: lighter runs would take every slot as it becomes free. For heavy runs that have waited from one scan to
 * the next, the free slots of one worker are reserved. Lighter runs keep at least one slot of it, unless the heavy run fills the worker.
 */
export class SlotReserver {
  readonly #options: SlotReserverOptions;
  /** Groups that had no room at the last scan. */
  readonly #crowded = new WeakSet<LaneGroup>();

  constructor(options: SlotReserverOptions) {
    this.#options = options;
  }

  async scan(): Promise<void> {
    for (const group of this.#options.groups()) if (group.weight > 1) await this.#check(group);
  }

  async #check(group: LaneGroup): Promise<void> {
    const sessions = [...group.sessions].filter((session) => session.isOpen);
    const isCrowded = sessions.length > 0 && sessions.every((session) => session.freeFor(group) === 0);
    const wasCrowded = this.#crowded.has(group);
    if (isCrowded) this.#crowded.add(group);
    else this.#endReservations(group, sessions);
    if (!isCrowded || !wasCrowded) return;
    const reserved = sessions.find((session) => session.reservedFor === group);
    const chosen = reserved ?? freest(sessions, group);
    if (chosen === null) return;
    const cursors = [...group.scans.cursors].filter((cursor) => !cursor.isHeld);
    const areWaiting = await this.#areWaiting(group, cursors);
    if (!areWaiting) chosen.reservedFor = chosen.reservedFor === group ? null : chosen.reservedFor;
    else if (chosen.reservedFor === null && group.sessions.has(chosen)) {
      chosen.reservedFor = group;
      // Hints may have been lost: the lanes are read from their beginning when there is room.
      for (const cursor of cursors) cursor.lower(lowestRank);
    }
  }

  async #areWaiting(group: LaneGroup, cursors: readonly LaneCursor[]): Promise<boolean> {
    const strict = [...group.strict.values()].flatMap((ids) => [...ids]);
    for (const namespaceId of group.namespaces) {
      const own = cursors.filter((cursor) => cursor.namespaceId === namespaceId).map((cursor) => cursor.lane.id);
      if (await this.#options.claims.areWaiting(namespaceId, [...own, ...strict])) return true;
    }
    return false;
  }

  /** A worker has room: no other needs to reserve slots. */
  #endReservations(group: LaneGroup, sessions: readonly WorkerSession[]): void {
    this.#crowded.delete(group);
    for (const session of sessions)
      if (session.reservedFor === group && session.freeFor(group) === 0) session.reservedFor = null;
  }
}

/** The session with the most free slots, of those that may reserve slots for such a run. */
function freest(sessions: readonly WorkerSession[], { weight }: LaneGroup): WorkerSession | null {
  const able = sessions.filter(({ reservedFor, heavySlots, slots }) => {
    return reservedFor === null && (heavySlots === 0 || heavySlots + weight < slots);
  });
  return able.sort((a, b) => b.freeSlots - a.freeSlots)[0] ?? null;
}
