import type { DurationMs } from "@carillon/core";
import { type ClaimedRun, offerLifetimeMs, type SlotOffer } from "@carillon/store";
import type { LaneCursors } from "../claims/lane-cursors.js";
import type { LaneGroup } from "../claims/lane-groups.js";
import type { WorkerSession } from "../sessions/worker-session.js";

export interface SlotOffererOptions {
  readonly gatewayId: string;
  readonly cursors: Pick<LaneCursors, "find">;
  readonly monotonic: () => DurationMs;
  readonly limitsRevision: () => number;
  readonly newId: () => string;
  readonly sendOffer: (to: string, offer: SlotOffer) => void;
}

/** A node that stores runs of a lane that is served here. */
interface Requester {
  readonly from: string;
  readonly lane: number;
  readonly namespaceId: number;
  requestedAt: DurationMs;
  /** The group whose workers take the runs; null: no run was claimed here yet. */
  group: LaneGroup | null;
  /** The last offer. */
  offered: {
    readonly session: WorkerSession;
    readonly at: DurationMs;
    readonly count: number;
    readonly token: string;
    used: number;
    lastUse: number;
  } | null;
}

/** A lane and a namespace of which slots were offered. */
export interface OfferedLane {
  readonly lane: number;
  readonly namespaceId: number;
  /** When slots were last offered. */
  readonly at: DurationMs;
}

/** The lane and the namespace of an offer, and the node that got it. */
type OfferUse = Pick<Requester, "from" | "lane" | "namespaceId">;

/** A notice that arrives later after the offer that it uses is old. */
const maxNoticeDelayMs: DurationMs = 5 * offerLifetimeMs;
const maxRequesters = 1_000;

/**
 * Offers free slots to nodes that stored runs which were claimed here: the next ones are stored as runs of a worker, and start without a
 * claim. Only where no run waits, so that none is overtaken; half of the free slots, so that others find some too. Offers promise nothing:
 * a run that finds no free slot is given back (`direct-arrivals.ts`).
 */
export class SlotOfferer {
  readonly #options: SlotOffererOptions;
  readonly #byLane = new Map<string, Map<string, Requester>>();
  #count = 0;
  /** Requesters for which no slot was free. */
  readonly #pending = new Set<Requester>();
  /** Lanes of which runs may have been stored for workers here, and when slots of them were last offered. */
  readonly #lanes = new Map<string, OfferedLane>();
  /** Requesters with an offer that may be used. */
  readonly #open = new Set<Requester>();

  constructor(options: SlotOffererOptions) {
    this.#options = options;
  }

  /** A node stored runs of this lane, and would take an offer. */
  requested(from: string, lane: number, namespaceId: number): void {
    const key = keyOf(lane, namespaceId);
    const requestedAt = this.#options.monotonic();
    const known = this.#byLane.get(key)?.get(from);
    if (known !== undefined) return void (known.requestedAt = requestedAt);
    if (this.#count >= maxRequesters) this.expireRequests();
    if (this.#count >= maxRequesters) return;
    const requesters = this.#byLane.get(key) ?? new Map<string, Requester>();
    this.#byLane.set(key, requesters);
    requesters.set(from, { from, lane, namespaceId, requestedAt, group: null, offered: null });
    this.#count++;
  }

  /** A claim of this group was answered. */
  claimed(group: LaneGroup, runs: readonly ClaimedRun[]): void {
    if (this.#count === 0 || group.weight > 1 || group.isShared || !hasWorkerInProcess(group)) return;
    let last: ClaimedRun | undefined;
    for (const run of runs) {
      if (run.lane === last?.lane && run.namespaceId === last.namespaceId) continue;
      last = run;
      for (const requester of this.#byLane.get(keyOf(run.lane, run.namespaceId))?.values() ?? []) {
        requester.group = group;
        if (!this.#hasOffer(requester)) this.#offer(requester);
      }
    }
  }

  /** Slots may have become free. */
  slotsFreed(): void {
    if (this.#pending.size === 0) return;
    const pending = [...this.#pending];
    this.#pending.clear();
    for (const requester of pending) this.#offer(requester);
  }

  /** Forgets nodes that have stored no run of a lane for the lifetime of an offer. */
  expireRequests(): void {
    const before = this.#options.monotonic() - offerLifetimeMs;
    for (const [key, requesters] of this.#byLane) {
      for (const [from, requester] of requesters) {
        if (requester.requestedAt >= before) continue;
        requesters.delete(from);
        this.#pending.delete(requester);
        this.#endOffer(requester);
        this.#count--;
      }
      if (requesters.size === 0) this.#byLane.delete(key);
    }
  }

  /** Lanes of which slots were offered since then; the others are forgotten. */
  offeredSince(at: DurationMs): readonly OfferedLane[] {
    for (const [key, lane] of this.#lanes) if (lane.at < at) this.#lanes.delete(key);
    return [...this.#lanes.values()];
  }

  /** Whether this use of an open offer is new, and no later one was received: then no notice can repeat it. */
  isFirstUse(use: OfferUse, token: string, number: number): boolean {
    const offered = this.#byLane.get(keyOf(use.lane, use.namespaceId))?.get(use.from)?.offered;
    if (offered?.token !== token || number <= offered.lastUse) return false;
    if (this.#options.monotonic() > offered.at + maxNoticeDelayMs) return false;
    offered.lastUse = number;
    return true;
  }

  /** Runs arrived by an offer; too many: there was no room for some. Offers are renewed before they are used up or too old. */
  used(use: OfferUse, count: number, isTooMany: boolean): void {
    const requester = this.#byLane.get(keyOf(use.lane, use.namespaceId))?.get(use.from);
    if (requester === undefined) return;
    const { offered } = requester;
    const now = this.#options.monotonic();
    requester.requestedAt = now;
    if (offered !== null) offered.used += count;
    if (isTooMany) this.#withdraw(requester);
    else if (!this.#hasOffer(requester)) this.#offer(requester);
  }

  #withdraw(requester: Requester): void {
    const { offered } = requester;
    this.#endOffer(requester);
    if (offered !== null) this.#send(requester, offered.session, { count: 0, token: offered.token });
    this.#pending.add(requester);
  }

  #hasOffer({ offered }: Requester): boolean {
    const now = this.#options.monotonic();
    return offered !== null && offered.used * 2 < offered.count && now <= offered.at + offerLifetimeMs / 2;
  }

  #offer(requester: Requester): void {
    const { cursors, monotonic } = this.#options;
    const { lane, namespaceId, group } = requester;
    const now = monotonic();
    const cursor = cursors.find(lane, namespaceId);
    if (group === null || now > requester.requestedAt + offerLifetimeMs || cursor === null) return;
    if (cursor.lane.kind !== "plain" || cursor.isHeld || cursor.isOpen) return;
    this.#endOffer(requester);
    if (group.scans.isReady(now)) return void this.#pending.add(requester);
    const [session, free] = this.#freest(group, now);
    if (session === null) return void this.#pending.add(requester);
    const count = Math.ceil(free / 2);
    const token = this.#options.newId();
    requester.offered = { session, at: now, count, token, used: 0, lastUse: 0 };
    this.#open.add(requester);
    this.#send(requester, session, { count, token });
  }

  #send(
    { from, lane, namespaceId }: Requester,
    { id: sessionId }: WorkerSession,
    offer: Pick<SlotOffer, "count" | "token">,
  ): void {
    const { gatewayId, limitsRevision, sendOffer, monotonic } = this.#options;
    this.#lanes.set(keyOf(lane, namespaceId), { lane, namespaceId, at: monotonic() });
    sendOffer(from, { lane, namespaceId, gatewayId, sessionId, limitsRevision: limitsRevision(), ...offer });
  }

  /** The worker with the most slots that are free and not offered. */
  #freest(group: LaneGroup, now: DurationMs): [session: WorkerSession | null, free: number] {
    const offered = this.#offeredSlots(now);
    let freest: WorkerSession | null = null;
    let max = 0;
    for (const session of group.sessions) {
      if (!session.isInProcess) continue;
      const free = session.freeFor(group) - (offered.get(session) ?? 0);
      if (free > max) [freest, max] = [session, free];
    }
    return [freest, max];
  }

  #offeredSlots(now: DurationMs): Map<WorkerSession, number> {
    const sums = new Map<WorkerSession, number>();
    for (const requester of this.#open) {
      const { offered } = requester;
      if (offered === null || now > offered.at + offerLifetimeMs) this.#endOffer(requester);
      else sums.set(offered.session, (sums.get(offered.session) ?? 0) + Math.max(0, offered.count - offered.used));
    }
    return sums;
  }

  #endOffer(requester: Requester): void {
    requester.offered = null;
    this.#open.delete(requester);
  }
}

const keyOf = (lane: number, namespaceId: number): string => `${lane} ${namespaceId}`;

/** Slots of workers that poll are not offered. */
function hasWorkerInProcess({ sessions }: LaneGroup): boolean {
  for (const { isInProcess } of sessions) if (isInProcess) return true;
  return false;
}
