import type { DurationMs } from "@carillon/core";
import { type Offer, offerMs } from "../model/offers.js";

interface Standing {
  readonly offer: Offer;
  readonly until: DurationMs;
  left: number;
}

/** What workers offered to take of the runs that are stored here. */
export class Offers {
  readonly #monotonic: () => DurationMs;
  readonly #byLane = new Map<string, Map<string, Standing>>();

  constructor(monotonic: () => DurationMs) {
    this.#monotonic = monotonic;
  }

  /** The latest of a gateway for a lane counts. */
  put(offer: Offer): void {
    const key = keyOf(offer);
    const offers = this.#byLane.get(key) ?? new Map<string, Standing>();
    if (offer.count > 0) {
      this.#byLane.set(key, offers);
      offers.set(offer.gatewayId, { offer, until: this.#monotonic() + offerMs, left: offer.count });
    } else this.#drop(key, offer.gatewayId);
  }

  /** Who takes so many runs: of those that can, the one that could take most. */
  find(lane: { readonly lane: number; readonly namespaceId: number }, count: number): Offer | null {
    if (this.#byLane.size === 0) return null;
    const key = keyOf(lane);
    const now = this.#monotonic();
    let most: Standing | null = null;
    for (const [gatewayId, standing] of this.#byLane.get(key) ?? []) {
      if (standing.until <= now || standing.left <= 0) this.#drop(key, gatewayId);
      else if (standing.left >= count && standing.left > (most?.left ?? 0)) most = standing;
    }
    return most?.offer ?? null;
  }

  use(offer: Offer, count: number): void {
    const standing = this.#byLane.get(keyOf(offer))?.get(offer.gatewayId);
    if (standing?.offer === offer) standing.left -= count;
  }

  /** It did not hold any more. */
  refused(offer: Offer): void {
    this.#drop(keyOf(offer), offer.gatewayId);
  }

  #drop(key: string, gatewayId: string): void {
    const offers = this.#byLane.get(key);
    offers?.delete(gatewayId);
    if (offers?.size === 0) this.#byLane.delete(key);
  }
}

const keyOf = ({ lane, namespaceId }: { readonly lane: number; readonly namespaceId: number }): string =>
  `${lane} ${namespaceId}`;
