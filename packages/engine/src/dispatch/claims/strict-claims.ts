import type { DurationMs, Timers } from "@carillon/core";
import type { ClaimedRun, ClaimStore, StrictClaim } from "@carillon/store";
import type { LaneGroup } from "./lane-group.js";
import { dealPlaces } from "./slot-allocation.js";
import type { WorkerSession } from "../sessions/worker-session.js";

export interface StrictClaimsOptions {
  readonly gatewayId: string;
  readonly claims: Pick<ClaimStore, "claimStrict">;
  readonly groups: () => Iterable<LaneGroup>;
  /** Runs of the lane are to stay where they are: while one is the first of its queue, nothing of the queue is claimed. */
  readonly isHeld: (namespaceId: number, laneId: number) => boolean;
  /** The breaker for which one run of the lane may be tried, and no more; null: the lane is open. */
  readonly trialOf: (namespaceId: number, laneId: number) => string | null;
  readonly timers: Timers;
  readonly monotonic: () => DurationMs;
  /** A run whose hint was lost, and a slot whose end nobody told, are found after at most this time. */
  readonly fullLookMs: DurationMs;
  readonly onClaimed: (session: WorkerSession, run: ClaimedRun) => void;
  /** A claim failed, and may have been done all the same. */
  readonly onDoubt: (session: WorkerSession) => void;
  /** A claim is over, and its place may be free. */
  readonly onSettled: () => void;
  readonly onError: (error: unknown) => void;
}

/** What is known of one strict queue of one namespace, for one group of workers. */
interface Desk {
  isUnderWay: boolean;
  /** Something changed since the last claim began. */
  isOpen: boolean;
  lookAt: DurationMs;
}

const pauseAfterErrorMs = 500;

/**
 * Claims runs of strict queues, one at a time: a statement of their own, which compares the queue's slot. Who has the slot is
 * decided by the database alone; here is only when to ask.
 */
export class StrictClaims {
  readonly #options: StrictClaimsOptions;
  readonly #desks = new WeakMap<LaneGroup, Map<string, Desk>>();
  readonly #underWay = new Set<Wanted>();
  #timer: unknown = null;
  #isStopped = false;

  constructor(options: StrictClaimsOptions) {
    this.#options = options;
  }

  /** The first run of the queue may be another, or its slot may be free. */
  hint(queue: string): void {
    for (const group of this.#options.groups()) if (group.strict.has(queue)) this.#open(group, queue);
  }

  hintAll(): void {
    for (const group of this.#options.groups()) for (const queue of group.strict.keys()) this.#open(group, queue);
  }

  /** Somebody may have room, or something to claim. */
  wake(): void {
    if (this.#isStopped) return;
    this.#options.timers.clearTimeout(this.#timer);
    const now = this.#options.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const group of this.#options.groups()) {
      for (const [queue, namespaceId] of queuesOf(group)) {
        const desk = this.#desk(group, queue, namespaceId);
        if (desk.isUnderWay) continue;
        const session = freest(group);
        if (session === null) break;
        const lanes = [...(group.strict.get(queue) ?? [])].filter((lane) => !this.#options.isHeld(namespaceId, lane));
        if (lanes.length === 0) continue;
        if (desk.isOpen || now >= desk.lookAt)
          void this.#claim(desk, { group, session }, this.#wanted(namespaceId, queue, lanes));
        else next = Math.min(next, desk.lookAt);
      }
    }
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#options.timers.setTimeout(() => this.wake(), Math.max(1, Math.ceil(next - now)));
  }

  /** Whether a claim under way may try a run of such a lane for its breaker. */
  isTrying(isMeant: (namespaceId: number, laneId: number) => boolean): boolean {
    return [...this.#underWay].some(({ namespaceId, trials }) => trials.some(({ lane }) => isMeant(namespaceId, lane)));
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.timers.clearTimeout(this.#timer);
  }

  async #claim(desk: Desk, { group, session }: Claimant, wanted: Wanted): Promise<void> {
    const { gatewayId, claims, monotonic, fullLookMs, onClaimed, onDoubt, onSettled, onError } = this.#options;
    desk.isUnderWay = true;
    desk.isOpen = false;
    this.#underWay.add(wanted);
    session.promise(group);
    try {
      const run = await claims.claimStrict({ gatewayId, session: session.id, ...wanted });
      desk.lookAt = monotonic() + fullLookMs;
      // Held before the promise is settled: a place is never counted as free in between.
      if (run !== null) onClaimed(session, run);
    } catch (error) {
      desk.lookAt = monotonic() + pauseAfterErrorMs;
      onDoubt(session);
      onError(error);
    } finally {
      session.settle(group);
      desk.isUnderWay = false;
      this.#underWay.delete(wanted);
      onSettled();
    }
  }

  #wanted(namespaceId: number, queue: string, lanes: readonly number[]): Wanted {
    const trials = lanes.flatMap((lane) => {
      const breaker = this.#options.trialOf(namespaceId, lane);
      return breaker === null ? [] : [{ lane, breaker }];
    });
    return { namespaceId, queue, lanes, trials };
  }

  #open(group: LaneGroup, queue: string): void {
    for (const namespaceId of group.usersOf(queue)) this.#desk(group, queue, namespaceId).isOpen = true;
  }

  #desk(group: LaneGroup, queue: string, namespaceId: number): Desk {
    const key = `${namespaceId} ${queue}`;
    let desks = this.#desks.get(group);
    if (desks === undefined) this.#desks.set(group, (desks = new Map<string, Desk>()));
    let desk = desks.get(key);
    if (desk === undefined) desks.set(key, (desk = { isUnderWay: false, isOpen: true, lookAt: 0 }));
    return desk;
  }
}

interface Claimant {
  readonly group: LaneGroup;
  readonly session: WorkerSession;
}

type Wanted = Pick<StrictClaim, "namespaceId" | "queue" | "lanes" | "trials">;

function* queuesOf(group: LaneGroup): Generator<[queue: string, namespaceId: number]> {
  for (const queue of group.strict.keys()) for (const namespaceId of group.usersOf(queue)) yield [queue, namespaceId];
}

/** Who has most free slots; nothing of a strict queue is given ahead. */
function freest(group: LaneGroup): WorkerSession | null {
  const places = dealPlaces(group.sessions, 1, group);
  const [first] = places.order;
  return places.free === 0 || first === undefined ? null : (places.sessions[first] ?? null);
}
