import type { IsBehind, ProbeSource } from "../../breakers/node-breakers.js";
import type { ClaimStore, LaneStore } from "@carillon/store";
import type { LaneBounds } from "./lane-bounds.js";
import type { LaneGroup } from "./lane-group.js";

export interface ProbeDoorOptions {
  readonly bounds: LaneBounds;
  readonly groups: () => Iterable<LaneGroup>;
  readonly lanes: Pick<LaneStore, "get">;
  readonly claims: Pick<ClaimStore, "areWaiting">;
  /** Whether a claim of a strict queue is under way that may try a run of such a lane. */
  readonly isStrictTrying: (isMeant: (namespaceId: number, laneId: number) => boolean) => boolean;
  readonly wake: () => void;
}

/** Through it goes the one run that is tried of all that wait behind an open breaker. */
export class ProbeDoor {
  readonly #options: ProbeDoorOptions;

  constructor(options: ProbeDoorOptions) {
    this.#options = options;
  }

  /** Whether somebody here serves a lane behind the breaker. */
  serves(isBehind: IsBehind): boolean {
    return this.#options.bounds.spotsWhere(isBehind).length > 0 || this.#strictWhere(isBehind).size > 0;
  }

  /**
   * Answers where a run waits. That of a strict queue is claimed as soon as its lane is not held any more. While the claim of one is
   * under way, no other is let through.
   */
  async letOneThrough(isBehind: IsBehind): Promise<ProbeSource> {
    const { bounds, claims, lanes, isStrictTrying, wake } = this.#options;
    const spots = bounds.spotsWhere(isBehind);
    if (spots.some((spot) => spot.isLookedAt)) return "lane";
    for (const spot of spots) spot.letNoneThrough();
    const isMeant = (namespaceId: number, laneId: number): boolean => {
      const lane = lanes.get(laneId);
      return lane !== null && isBehind(namespaceId, lane);
    };
    if (isStrictTrying(isMeant)) return "strict";
    for (const spot of spots) {
      if (spot.isShut || !(await claims.areWaiting(spot.namespaceId, [spot.lane.id]))) continue;
      spot.letOneThrough();
      wake();
      return "lane";
    }
    for (const [namespaceId, laneIds] of this.#strictWhere(isBehind))
      if (await claims.areWaiting(namespaceId, [...laneIds])) return "strict";
    return null;
  }

  /** Lanes of strict queues that somebody here serves, by namespace. */
  #strictWhere(isBehind: IsBehind): Map<number, Set<number>> {
    const found = new Map<number, Set<number>>();
    for (const group of this.#options.groups())
      for (const [queue, laneIds] of group.strict)
        for (const namespaceId of group.usersOf(queue))
          for (const laneId of laneIds) {
            const lane = this.#options.lanes.get(laneId);
            if (lane === null || !isBehind(namespaceId, lane)) continue;
            found.set(namespaceId, (found.get(namespaceId) ?? new Set<number>()).add(laneId));
          }
    return found;
  }
}
