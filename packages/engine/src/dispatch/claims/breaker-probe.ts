import type { ClaimStore, LaneStore } from "@carillon/store";
import type { IsBehind, ProbeSource } from "../../breakers/breakers.js";
import type { LaneCursors } from "./lane-cursors.js";
import type { LaneGroup } from "./lane-groups.js";

export interface BreakerProbeOptions {
  readonly cursors: LaneCursors;
  readonly groups: () => Iterable<LaneGroup>;
  readonly lanes: Pick<LaneStore, "get">;
  readonly claims: Pick<ClaimStore, "areWaiting">;
  /** Whether a claim of a strict queue is under way that may try a run of such a lane. */
  readonly isStrictTrying: (isMeant: (namespaceId: number, laneId: number) => boolean) => boolean;
  readonly wake: () => void;
}

/** Admits the one run that is tried of all that wait behind an open breaker. */
export class BreakerProbe {
  readonly #options: BreakerProbeOptions;

  constructor(options: BreakerProbeOptions) {
    this.#options = options;
  }

  /** Whether a worker here serves a lane behind the breaker. */
  serves(isBehind: IsBehind): boolean {
    return this.#options.cursors.cursorsWhere(isBehind).length > 0 || this.#strictWhere(isBehind).size > 0;
  }

  /**
   * Returns where a run waits. A run of a strict queue is claimed as soon as its lane is not held any more. While a claim for one is
   * under way, no other is admitted.
   */
  async admitOne(isBehind: IsBehind): Promise<ProbeSource> {
    const { cursors, claims, lanes, isStrictTrying, wake } = this.#options;
    const behind = cursors.cursorsWhere(isBehind);
    if (behind.some((cursor) => cursor.isBeingScanned)) return "lane";
    for (const cursor of behind) cursor.admitNone();
    const isMeant = (namespaceId: number, laneId: number): boolean => {
      const lane = lanes.get(laneId);
      return lane !== null && isBehind(namespaceId, lane);
    };
    if (isStrictTrying(isMeant)) return "strict";
    for (const cursor of behind) {
      if (cursor.isShut || !(await claims.areWaiting(cursor.namespaceId, [cursor.lane.id]))) continue;
      cursor.admitOne();
      wake();
      return "lane";
    }
    for (const [namespaceId, laneIds] of this.#strictWhere(isBehind))
      if (await claims.areWaiting(namespaceId, [...laneIds])) return "strict";
    return null;
  }

  /** Lanes of strict queues that workers here serve, by namespace. */
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
