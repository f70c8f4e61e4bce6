import type { DurationMs } from "@carillon/core";
import { type ClaimedRun, type Offer, offerMs } from "@carillon/store";
import type { LaneBounds } from "../claims/lane-bounds.js";
import type { LaneGroup } from "../claims/lane-group.js";
import type { WorkerSession } from "../sessions/worker-session.js";

export interface OfferingOptions {
  readonly gatewayId: string;
  readonly bounds: Pick<LaneBounds, "find">;
  readonly monotonic: () => DurationMs;
  readonly limitsRevision: () => number;
  readonly newId: () => string;
  /** Passes an offer on. */
  readonly send: (to: string, offer: Offer) => void;
}

/** Somebody who stores runs of a lane that is served here. */
interface Customer {
  readonly from: string;
  readonly lane: number;
  readonly namespaceId: number;
  askedAt: DurationMs;
  /** Whose workers take the runs; null: none of them was claimed here yet. */
  group: LaneGroup | null;
  /** What was offered last. */
  offered: {
    readonly session: WorkerSession;
    readonly at: DurationMs;
    readonly count: number;
    readonly token: string;
    used: number;
    last: number;
  } | null;
}

export interface OfferedLane {
  readonly lane: number;
  readonly namespaceId: number;
  /** When something was last offered of it. */
  readonly at: DurationMs;
}

/** Word by an offer that comes later is old. */
const latestMs: DurationMs = 5 * offerMs;
const mostCustomers = 1_000;

/**
 * Offers free slots to whoever just stored runs that were claimed here: the next ones are stored as those of a worker, and start without
 * a claim. Only where nothing waits, so that nobody is overtaken; half of what is free, so that others find something too. Offers promise nothing:
 * what comes and finds no room is given back (`handed-arrivals.ts`).
 */
export class Offering {
  readonly #options: OfferingOptions;
  readonly #byLane = new Map<string, Map<string, Customer>>();
  #count = 0;
  /** Those for whom no slot was free. */
  readonly #owed = new Set<Customer>();
  /** Lanes of which runs may have been stored for workers here, and since when nothing more was offered of them. */
  readonly #lanes = new Map<string, OfferedLane>();
  /** Those with an offer that may be used. */
  readonly #standing = new Set<Customer>();

  constructor(options: OfferingOptions) {
    this.#options = options;
  }

  /** Somebody stored runs of this lane, and would take an offer. */
  asked(from: string, lane: number, namespaceId: number): void {
    const key = keyOf(lane, namespaceId);
    const askedAt = this.#options.monotonic();
    const known = this.#byLane.get(key)?.get(from);
    if (known !== undefined) return void (known.askedAt = askedAt);
    if (this.#count >= mostCustomers) this.tidy();
    if (this.#count >= mostCustomers) return;
    const customers = this.#byLane.get(key) ?? new Map<string, Customer>();
    this.#byLane.set(key, customers);
    customers.set(from, { from, lane, namespaceId, askedAt, group: null, offered: null });
    this.#count++;
  }

  /** A claim of this group was answered. */
  claimed(group: LaneGroup, runs: readonly ClaimedRun[]): void {
    if (this.#count === 0 || group.weight > 1 || group.only === null || !hasSteady(group)) return;
    let last: ClaimedRun | undefined;
    for (const run of runs) {
      if (run.lane === last?.lane && run.namespaceId === last.namespaceId) continue;
      last = run;
      for (const customer of this.#byLane.get(keyOf(run.lane, run.namespaceId))?.values() ?? []) {
        customer.group = group;
        if (!this.#hasOffer(customer)) this.#offer(customer);
      }
    }
  }

  /** Slots may have become free. */
  freed(): void {
    if (this.#owed.size === 0) return;
    const owed = [...this.#owed];
    this.#owed.clear();
    for (const customer of owed) this.#offer(customer);
  }

  /** Forgets those of whom nothing was heard for long enough. */
  tidy(): void {
    const before = this.#options.monotonic() - offerMs;
    for (const [key, customers] of this.#byLane) {
      for (const [from, customer] of customers) {
        if (customer.askedAt >= before) continue;
        customers.delete(from);
        this.#owed.delete(customer);
        this.#end(customer);
        this.#count--;
      }
      if (customers.size === 0) this.#byLane.delete(key);
    }
  }

  /** Lanes of which something was offered since then; the others are forgotten. */
  offeredSince(at: DurationMs): readonly OfferedLane[] {
    for (const [key, lane] of this.#lanes) if (lane.at < at) this.#lanes.delete(key);
    return [...this.#lanes.values()];
  }

  /** Whether word came by an offer that stands, and no later one came before: then nobody says it a second time. */
  isFirst(by: { from: string; lane: number; namespaceId: number }, token: string, number: number): boolean {
    const offered = this.#byLane.get(keyOf(by.lane, by.namespaceId))?.get(by.from)?.offered;
    if (offered?.token !== token || number <= offered.last) return false;
    if (this.#options.monotonic() > offered.at + latestMs) return false;
    offered.last = number;
    return true;
  }

  /** Runs came by an offer; too many: there was no room for some. Offers are renewed before they are used up or too old. */
  used(by: { from: string; lane: number; namespaceId: number }, count: number, isTooMuch: boolean): void {
    const customer = this.#byLane.get(keyOf(by.lane, by.namespaceId))?.get(by.from);
    if (customer === undefined) return;
    const { offered } = customer;
    const now = this.#options.monotonic();
    customer.askedAt = now;
    if (offered !== null) offered.used += count;
    if (isTooMuch) this.#takeBack(customer);
    else if (!this.#hasOffer(customer)) this.#offer(customer);
  }

  #takeBack(customer: Customer): void {
    const { offered } = customer;
    this.#end(customer);
    if (offered !== null) this.#send(customer, offered.session, { count: 0, token: offered.token });
    this.#owed.add(customer);
  }

  #hasOffer({ offered }: Customer): boolean {
    const now = this.#options.monotonic();
    return offered !== null && offered.used * 2 < offered.count && now <= offered.at + offerMs / 2;
  }

  #offer(customer: Customer): void {
    const { bounds, monotonic } = this.#options;
    const { lane, namespaceId, group } = customer;
    const now = monotonic();
    const spot = bounds.find(lane, namespaceId);
    if (group === null || now > customer.askedAt + offerMs || spot === null) return;
    if (spot.lane.kind !== "plain" || spot.isHeld || spot.isOpen) return;
    this.#end(customer);
    if (group.agenda.isReady(now)) return void this.#owed.add(customer);
    const [session, free] = this.#freest(group, now);
    if (session === null) return void this.#owed.add(customer);
    const count = Math.ceil(free / 2);
    const token = this.#options.newId();
    customer.offered = { session, at: now, count, token, used: 0, last: 0 };
    this.#standing.add(customer);
    this.#send(customer, session, { count, token });
  }

  #send(
    { from, lane, namespaceId }: Customer,
    { id: sessionId }: WorkerSession,
    what: Pick<Offer, "count" | "token">,
  ): void {
    const { gatewayId, limitsRevision, send, monotonic } = this.#options;
    this.#lanes.set(keyOf(lane, namespaceId), { lane, namespaceId, at: monotonic() });
    send(from, { lane, namespaceId, gatewayId, sessionId, limitsRevision: limitsRevision(), ...what });
  }

  /** The worker with the most slots that are free and offered to nobody. */
  #freest(group: LaneGroup, now: DurationMs): [session: WorkerSession | null, free: number] {
    const offered = this.#offeredOf(now);
    let freest: WorkerSession | null = null;
    let most = 0;
    for (const session of group.sessions) {
      if (!session.isSteady) continue;
      const free = session.freeFor(group) - (offered.get(session) ?? 0);
      if (free > most) [freest, most] = [session, free];
    }
    return [freest, most];
  }

  #offeredOf(now: DurationMs): Map<WorkerSession, number> {
    const sums = new Map<WorkerSession, number>();
    for (const customer of this.#standing) {
      const { offered } = customer;
      if (offered === null || now > offered.at + offerMs) this.#end(customer);
      else sums.set(offered.session, (sums.get(offered.session) ?? 0) + Math.max(0, offered.count - offered.used));
    }
    return sums;
  }

  #end(customer: Customer): void {
    customer.offered = null;
    this.#standing.delete(customer);
  }
}

const keyOf = (lane: number, namespaceId: number): string => `${lane} ${namespaceId}`;

/** Of workers that poll none is offered. */
function hasSteady({ sessions }: LaneGroup): boolean {
  for (const { isSteady } of sessions) if (isSteady) return true;
  return false;
}
