import type { DurationMs, Instant } from "@carillon/core";
import { type Offer, offerMs } from "../model/offers.js";
import type { ClaimedRun } from "../store/entities/claimed-run.js";
import type { LaneBounds } from "./lane-bounds.js";
import type { LaneGroup } from "./lane-group.js";
import type { WorkerSession } from "./worker-session.js";

/** Runs that somebody stored for a worker of this gateway. All of one lane. */
export interface HandedRuns {
  /** Who stored them. */
  readonly from: string;
  readonly sessionId: string;
  readonly runs: readonly ClaimedRun[];
}

export interface OfferingOptions {
  readonly gatewayId: string;
  readonly bounds: Pick<LaneBounds, "find">;
  readonly find: (sessionId: string) => WorkerSession | null;
  readonly monotonic: () => DurationMs;
  /** The database's clock. */
  readonly now: () => Instant;
  readonly limitsRevision: () => number;
  /** Passes an offer on. */
  readonly send: (to: string, offer: Offer) => void;
  readonly onTaken: (session: WorkerSession, runs: readonly ClaimedRun[]) => void;
  /** There is no room for these. */
  readonly giveBack: (session: WorkerSession, runs: readonly ClaimedRun[]) => Promise<void>;
  /** Runs of a session that this gateway does not serve: if it is gone, they are queued again. */
  readonly rescue: (runIds: readonly string[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
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
  offered: { readonly session: WorkerSession; readonly at: DurationMs; readonly count: number; used: number } | null;
}

const mostCustomers = 1_000;

/**
 * Offers free slots to whoever just stored runs that were claimed here: the next ones are stored as those of a worker, and start without
 * a claim. Only where nothing waits, so that nobody is overtaken; half of what is free, so that others find something too. Offers promise nothing:
 * what comes and finds no room is given back.
 */
export class Offering {
  readonly #options: OfferingOptions;
  readonly #byLane = new Map<string, Map<string, Customer>>();
  #count = 0;
  /** Those for whom no slot was free. */
  readonly #owed = new Set<Customer>();
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
    if (this.#count === 0 || group.weight > 1 || group.only === null) return;
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

  /** Runs were stored for a worker of this gateway. */
  take({ from, sessionId, runs }: HandedRuns): void {
    const [first] = runs;
    if (first === undefined) return;
    const session = this.#options.find(sessionId);
    if (session === null) return this.#do(this.#options.rescue(runs.map((run) => run.id)));
    const now = this.#options.now();
    // Who asks what it holds may have been answered with these before they were told of: begun twice they must not be.
    if (session.doubt.isRaised(now) || first.runAt < now - session.doubt.lastsMs / 2) return session.doubt.raise(now);
    const customer = this.#byLane.get(keyOf(first.lane, first.namespaceId))?.get(from);
    const taken = runs.slice(0, this.#roomFor(session, first, customer));
    const tooMany = runs.slice(taken.length);
    this.#options.onTaken(session, taken);
    if (customer !== undefined) this.#used(customer, runs.length, tooMany.length > 0);
    if (tooMany.length === 0) return;
    const back = this.#options.giveBack(session, tooMany).catch((error: unknown) => {
      session.doubt.raise(this.#options.now());
      throw error;
    });
    this.#do(back);
  }

  #roomFor(session: WorkerSession, { lane, namespaceId }: ClaimedRun, customer: Customer | undefined): number {
    const isHeld = this.#options.bounds.find(lane, namespaceId)?.isHeld ?? true;
    return isHeld ? 0 : session.roomFor(customer?.group ?? { weight: 1 });
  }

  /** Renewed before it is used up or too old. */
  #used(customer: Customer, count: number, isTooMuch: boolean): void {
    const { offered } = customer;
    const now = this.#options.monotonic();
    customer.askedAt = now;
    if (offered !== null) offered.used += count;
    if (isTooMuch) return this.#takeBack(customer);
    if (offered === null || offered.used * 2 >= offered.count || now > offered.at + offerMs / 2) this.#offer(customer);
  }

  #takeBack(customer: Customer): void {
    const { offered } = customer;
    this.#end(customer);
    if (offered !== null) this.#send(customer, offered.session, 0);
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
    const [session, free] = this.#freest(group, now);
    if (session === null) return void this.#owed.add(customer);
    const count = Math.ceil(free / 2);
    customer.offered = { session, at: now, count, used: 0 };
    this.#standing.add(customer);
    this.#send(customer, session, count);
  }

  #send({ from, lane, namespaceId }: Customer, { id: sessionId }: WorkerSession, count: number): void {
    const { gatewayId, limitsRevision, send } = this.#options;
    send(from, { lane, namespaceId, gatewayId, sessionId, limitsRevision: limitsRevision(), count });
  }

  /** The worker with the most slots that are free and offered to nobody. */
  #freest(group: LaneGroup, now: DurationMs): [session: WorkerSession | null, free: number] {
    const offered = this.#offeredOf(now);
    let freest: WorkerSession | null = null;
    let most = 0;
    for (const session of group.sessions) {
      if (!session.isSteady || session.doubt.isRaised(this.#options.now())) continue;
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

  #do(work: Promise<void>): void {
    work.catch(this.#options.onError);
  }
}

const keyOf = (lane: number, namespaceId: number): string => `${lane} ${namespaceId}`;
