import type { LaneStore, LimitedLane } from "@carillon/store";
import type { LimitOwnerCache } from "../catalog/limit-owner-cache.js";
import type { Membership } from "../context.js";

export interface LimitedLanesOptions {
  readonly lanes: Pick<LaneStore, "list" | "get">;
  readonly owners: Pick<LimitOwnerCache, "all">;
  readonly membership: () => Membership;
  readonly shards: number;
}

/** Which lanes have limits, and which of them this node admits runs of: lanes and gates are shared out as shards are. */
export class LimitedLanes {
  readonly #options: LimitedLanesOptions;

  constructor(options: LimitedLanesOptions) {
    this.#options = options;
  }

  /** The lanes whose arriving runs this node blocks behind their gates. */
  async own(): Promise<LimitedLane[]> {
    const { lanes, owners } = this.#options;
    const all = await lanes.list();
    const gated = all.filter((lane) => lane.kind === "gated" && this.#isOwn(lane.id));
    const open = all.filter(({ id, kind }) => ["plain", "solo", "lost"].includes(kind) && this.#isOwn(id));
    const ofOwners = owners.all.flatMap(({ namespaceId, queue }) =>
      open.filter((lane) => queue === null || lane.queue === queue).map((lane) => ({ lane: lane.id, namespaceId })),
    );
    return [...gated.map((lane) => ({ lane: lane.id, namespaceId: null })), ...ofOwners];
  }

  /** How runs of these lanes come to their limits. waits: behind its gate; it was given back, rescued, or its next attempt is due. */
  ways(ids: readonly number[]): ReadonlySet<"arrived" | "waits"> {
    const { lanes, owners } = this.#options;
    const limited = new Set(owners.all.map((owner) => owner.queue));
    const ways = new Set<"arrived" | "waits">();
    for (const id of ids) {
      const lane = lanes.get(id);
      if (lane?.kind === "admitted") ways.add("waits");
      // A lane that another node made a moment ago may be gated.
      else if (lane === null || lane.kind === "gated" || limited.has(null) || limited.has(lane.queue))
        ways.add("arrived");
    }
    return ways;
  }

  /** Whether this node admits the runs behind a gate. */
  isHome(gate: string): boolean {
    return this.#isOwn(hashOf(gate));
  }

  #isOwn(shard: number): boolean {
    return this.#options.membership().epochs.has(shard % this.#options.shards);
  }
}

/** FNV-1a: the home of a gate is the same on every node. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
