import type { DurationMs, Instant } from "@carillon/core";
import {
  type DirectRunStore,
  type NewRun,
  type Notice,
  offerLifetimeMs,
  type Queued,
  type SlotOffer,
  toRunBatch,
} from "@carillon/store";

/** Delivers runs that are stored for a worker of this process, by a call. */
export interface LocalDelivery {
  /** `fence`: of the worker's claims. */
  stored(claim: { readonly at: Instant; readonly fence: number }): void;
  /** The runs were not stored for the worker, or the outcome is unknown. */
  failed(): void;
}

/** The part of dispatch's direct channel that reaches the gateways which sent offers. */
export interface OfferChannel {
  /** The gateway of this process. Its offers are preferred. */
  readonly gatewayId: string;
  /** null: the offer is another process's. */
  expectLocal(offer: SlotOffer, runs: readonly NewRun[]): LocalDelivery | null;
  /** The notice for the gateway of another process that sent the offer; null: it would be too long. */
  noticeFor(offer: SlotOffer, number: number, runs: readonly NewRun[]): Notice | null;
}

export interface DirectInsertOptions {
  readonly store: Pick<DirectRunStore, "insert">;
  readonly offers: Pick<SlotOffers, "find" | "nextUse" | "use" | "refused">;
  readonly channel: OfferChannel;
  /** The notice for all gateways, which the statement sends if it queues the runs instead. */
  readonly queuedNoticeFor: (queued: readonly Queued[]) => Notice | null;
}

export interface DirectInserted {
  readonly at: Instant;
  /** false: the offer was no longer valid, and the runs were queued. */
  readonly isAssigned: boolean;
}

/** Stores runs as claimed by a worker that offered a slot: one commit between the call and the handler instead of two. */
export class DirectInsert {
  readonly #options: DirectInsertOptions;

  constructor(options: DirectInsertOptions) {
    this.#options = options;
  }

  /** null: there is no offer for these runs, and nothing was stored. */
  async insert(runs: readonly NewRun[]): Promise<DirectInserted | null> {
    const { store, offers, channel, queuedNoticeFor } = this.#options;
    const [first] = runs;
    const offer = first === undefined ? null : offers.find(first, runs.length, channel.gatewayId);
    if (offer === null) return null;
    const batch = toRunBatch(runs);
    if (!batch.isHomogeneous) return null;
    const delivery = channel.expectLocal(offer, runs);
    const toGateway = delivery === null ? channel.noticeFor(offer, offers.nextUse(offer), runs) : null;
    if (delivery === null && toGateway === null) return null;
    offers.use(offer, runs.length);
    try {
      const { at, fence } = await store.insert(batch, offer, { toGateway, ifQueued: queuedNoticeFor(runs) });
      if (fence !== null) delivery?.stored({ at, fence });
      else {
        delivery?.failed();
        offers.refused(offer);
      }
      return { at, isAssigned: fence !== null };
    } catch (error) {
      delivery?.failed();
      throw error;
    }
  }
}

interface OpenOffer {
  readonly offer: SlotOffer;
  readonly until: DurationMs;
  left: number;
  /** How often the offer was used. */
  uses: number;
}

/** The slots that gateways offered for runs that this node stores. */
export class SlotOffers {
  readonly #monotonic: () => DurationMs;
  readonly #byLane = new Map<string, Map<string, OpenOffer>>();

  constructor(monotonic: () => DurationMs) {
    this.#monotonic = monotonic;
  }

  /** Replaces the gateway's earlier offer for the lane. */
  put(offer: SlotOffer): void {
    const key = keyOf(offer);
    const offers = this.#byLane.get(key) ?? new Map<string, OpenOffer>();
    if (offer.count > 0) {
      this.#byLane.set(key, offers);
      offers.set(offer.gatewayId, { offer, until: this.#monotonic() + offerLifetimeMs, left: offer.count, uses: 0 });
    } else this.#drop(key, offer.gatewayId);
  }

  /** Finds an offer with at least `count` slots: this node's own, or else the one with the most slots left. */
  find(lane: { readonly lane: number; readonly namespaceId: number }, count: number, own?: string): SlotOffer | null {
    if (this.#byLane.size === 0) return null;
    const key = keyOf(lane);
    const now = this.#monotonic();
    let largest: OpenOffer | null = null;
    for (const [gatewayId, open] of this.#byLane.get(key) ?? []) {
      if (open.until <= now || open.left <= 0) this.#drop(key, gatewayId);
      else if (open.left < count) continue;
      else if (gatewayId === own) return open.offer;
      else if (open.left > (largest?.left ?? 0)) largest = open;
    }
    return largest?.offer ?? null;
  }

  /** The number of the offer's next use, from 1. */
  nextUse(offer: SlotOffer): number {
    return (this.#find(offer)?.uses ?? 0) + 1;
  }

  use(offer: SlotOffer, count: number): void {
    const open = this.#find(offer);
    if (open === undefined) return;
    open.left -= count;
    open.uses++;
  }

  /** Drops an offer that is no longer valid. */
  refused(offer: SlotOffer): void {
    this.#drop(keyOf(offer), offer.gatewayId);
  }

  #find(offer: SlotOffer): OpenOffer | undefined {
    const open = this.#byLane.get(keyOf(offer))?.get(offer.gatewayId);
    return open?.offer === offer ? open : undefined;
  }

  #drop(key: string, gatewayId: string): void {
    const offers = this.#byLane.get(key);
    offers?.delete(gatewayId);
    if (offers?.size === 0) this.#byLane.delete(key);
  }
}

const keyOf = ({ lane, namespaceId }: { readonly lane: number; readonly namespaceId: number }): string =>
  `${lane} ${namespaceId}`;
