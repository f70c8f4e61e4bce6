import { CarillonError, type Clock, type DurationMs, type Instant } from "@carillon/core";
import type { Membership } from "../cluster/coordinator.js";
import type { OnEngineEvent, FailedRun } from "../events.js";
import { Intake } from "../limits/intake.js";
import { LimitAdmitter } from "../limits/limit-admitter.js";
import { limitApi } from "../limits/limit-api.js";
import type { Limits } from "../limits/limits.js";
import type { LimitedLane, Queued } from "@carillon/store";
import type { EngineStore } from "./engine-store.js";

export interface LimitingOptions {
  readonly store: Pick<EngineStore, "limits" | "limitOwners" | "lanes" | "settle" | "namespaces">;
  readonly clock: Pick<Clock, "monotonic">;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly membership: () => Membership;
  readonly shards: number;
  /** Somebody changed a limit. */
  readonly onChanged: () => void;
  readonly onAdmitted: (queued: readonly Queued[]) => void;
  readonly onFreed: (jobIds: readonly string[]) => void;
  readonly onFailed: (run: FailedRun) => void;
  readonly onEvent: OnEngineEvent;
}

export interface Limiting {
  readonly api: Limits;
  readonly admitter: LimitAdmitter;
  /** Whether some of these lanes may have limits. */
  readonly areLimited: (lanes: readonly number[]) => boolean;
  /** Runs were queued in these lanes; says whether some of them have limits. */
  readonly hint: (lanes: readonly number[]) => boolean;
  /** One bounded pass; answers when the next is due. */
  readonly tick: () => Promise<DurationMs>;
}

/** The parts that hold runs to their limits, put together. */
export function makeLimiting(options: LimitingOptions): Limiting {
  const { store, membership, shards } = options;
  const { limits, limitOwners, lanes, settle } = store;
  const isOwn = (shard: number): boolean => membership().epochs.has(shard % shards);

  async function limitedLanes(): Promise<LimitedLane[]> {
    const all = await lanes.list();
    const gated = all.filter((lane) => lane.kind === "gated" && isOwn(lane.id));
    const open = all.filter(({ id, kind }) => ["plain", "solo", "lost"].includes(kind) && isOwn(id));
    const ofOwners = limitOwners.all.flatMap(({ namespaceId, queue }) =>
      open.filter((lane) => queue === null || lane.queue === queue).map((lane) => ({ lane: lane.id, namespaceId })),
    );
    return [...gated.map((lane) => ({ lane: lane.id, namespaceId: null })), ...ofOwners];
  }

  /** How runs of these lanes come to their limits. waits: behind its gate; it was given back, rescued, or its next try has come. */
  function waysOf(ids: readonly number[]): ReadonlySet<"arrived" | "waits"> {
    const limited = new Set(limitOwners.all.map((owner) => owner.queue));
    const ways = new Set<"arrived" | "waits">();
    for (const id of ids) {
      const lane = lanes.get(id);
      if (lane?.kind === "admitted") ways.add("waits");
      // One that another node made a moment ago may be gated.
      else if (lane === null || lane.kind === "gated" || limited.has(null) || limited.has(lane.queue))
        ways.add("arrived");
    }
    return ways;
  }

  const admitter = new LimitAdmitter({
    ...options,
    limits,
    settle,
    intake: new Intake({ limits, lanes, settle }),
    lanes: limitedLanes,
    isHome: (gate) => isOwn(hashOf(gate)),
  });
  const api = limitApi({
    ...options,
    limits,
    async namespaceId(name) {
      const id = await store.namespaces.find(name);
      if (id === null) throw new CarillonError("not_found", `there is no namespace ${JSON.stringify(name)}`);
      return id;
    },
  });
  return {
    api,
    admitter,
    areLimited: (ids) => waysOf(ids).size > 0,
    hint(ids) {
      const ways = waysOf(ids);
      if (ways.has("arrived")) admitter.arrived();
      if (ways.has("waits")) admitter.lookSoon();
      return ways.size > 0;
    },
    async tick() {
      await admitter.tick();
      return admitter.idleMs;
    },
  };
}

/** FNV-1a: the home of a gate is the same on every node. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}
