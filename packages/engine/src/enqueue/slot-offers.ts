import type { DurationMs } from "@carillon/core";
import { offerMs, type Offer } from "@carillon/store";

interface Standing {
  readonly offer: Offer;
  readonly until: DurationMs;
  left: number;
  /** How often it was used. */
  uses: number;
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
      offers.set(offer.gatewayId, { offer, until: this.#monotonic() + offerMs, left: offer.count, uses: 0 });
    } else this.#drop(key, offer.gatewayId);
  }

  /** Who takes so many runs: of those that can, this node itself, else the one that could take most. */
  find(lane: { readonly lane: number; readonly namespaceId: number }, count: number, own?: string): Offer | null {
    if (this.#byLane.size === 0) return null;
    const key = keyOf(lane);
    const now = this.#monotonic();
    let most: Standing | null = null;
    for (const [gatewayId, standing] of this.#byLane.get(key) ?? []) {
      if (standing.until <= now || standing.left <= 0) this.#drop(key, gatewayId);
      else if (standing.left < count) continue;
      else if (gatewayId === own) return standing.offer;
      else if (standing.left > (most?.left ?? 0)) most = standing;
    }
    return most?.offer ?? null;
  }

  /** The next use of it is its first, second and so on. */
  nextUse(offer: Offer): number {
    return (this.#standing(offer)?.uses ?? 0) + 1;
  }

  use(offer: Offer, count: number): void {
    const standing = this.#standing(offer);
    if (standing === undefined) return;
    standing.left -= count;
    standing.uses++;
  }

  /** It did not hold any more. */
  refused(offer: Offer): void {
    this.#drop(keyOf(offer), offer.gatewayId);
  }

  #standing(offer: Offer): Standing | undefined {
    const standing = this.#byLane.get(keyOf(offer))?.get(offer.gatewayId);
    return standing?.offer === offer ? standing : undefined;
  }

  #drop(key: string, gatewayId: string): void {
    const offers = this.#byLane.get(key);
    offers?.delete(gatewayId);
    if (offers?.size === 0) this.#byLane.delete(key);
  }
}

const keyOf = ({ lane, namespaceId }: { readonly lane: number; readonly namespaceId: number }): string =>
  `${lane} ${namespaceId}`;
