import type { ClaimStore } from "@carillon/store";
import { everything, type Spot } from "./claims/lane-cursor.js";
import type { LaneGroup } from "./claims/lane-group.js";
import type { WorkerSession } from "./sessions/worker-session.js";

export interface HeavySavingsOptions {
  readonly claims: Pick<ClaimStore, "areWaiting">;
  readonly groups: () => Iterable<LaneGroup>;
}

/**
 * Keeps heavy runs from starving: lighter ones would take every slot as it becomes free. Heavy runs that have waited from one
 * look to the next have one worker keep its free slots for them. Lighter runs keep at least one slot of it, unless the heavy run
 * fills the worker.
 */
export class HeavySavings {
  readonly #options: HeavySavingsOptions;
  /** Found no room at the last look. */
  readonly #crowded = new WeakSet<LaneGroup>();

  constructor(options: HeavySavingsOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    for (const group of this.#options.groups()) if (group.weight > 1) await this.#lookAt(group);
  }

  async #lookAt(group: LaneGroup): Promise<void> {
    const sessions = [...group.sessions].filter((session) => session.isOpen);
    const isCrowded = sessions.length > 0 && sessions.every((session) => session.freeFor(group) === 0);
    const wasCrowded = this.#crowded.has(group);
    if (isCrowded) this.#crowded.add(group);
    else this.#makeDo(group, sessions);
    if (!isCrowded || !wasCrowded) return;
    const saving = sessions.find((session) => session.savedFor === group);
    const chosen = saving ?? freest(sessions, group);
    if (chosen === null) return;
    const spots = [...group.agenda.spots].filter((spot) => !spot.isHeld);
    const areWaiting = await this.#areWaiting(group, spots);
    if (!areWaiting) chosen.savedFor = chosen.savedFor === group ? null : chosen.savedFor;
    else if (chosen.savedFor === null && group.sessions.has(chosen)) {
      chosen.savedFor = group;
      // Their hints may have been lost: they are looked for when there is room.
      for (const spot of spots) spot.lower(everything);
    }
  }

  async #areWaiting(group: LaneGroup, spots: readonly Spot[]): Promise<boolean> {
    const strict = [...group.strict.values()].flatMap((ids) => [...ids]);
    for (const namespaceId of group.namespaces) {
      const own = spots.filter((spot) => spot.namespaceId === namespaceId).map((spot) => spot.lane.id);
      if (await this.#options.claims.areWaiting(namespaceId, [...own, ...strict])) return true;
    }
    return false;
  }

  /** Somebody has room: nobody else need save. */
  #makeDo(group: LaneGroup, sessions: readonly WorkerSession[]): void {
    this.#crowded.delete(group);
    for (const session of sessions)
      if (session.savedFor === group && session.freeFor(group) === 0) session.savedFor = null;
  }
}

/** Who has most free slots, among those that may save for such a run. */
function freest(sessions: readonly WorkerSession[], { weight }: LaneGroup): WorkerSession | null {
  const able = sessions.filter(({ savedFor, heavySlots, slots }) => {
    return savedFor === null && (heavySlots === 0 || heavySlots + weight < slots);
  });
  return able.sort((a, b) => b.freeSlots - a.freeSlots)[0] ?? null;
}
