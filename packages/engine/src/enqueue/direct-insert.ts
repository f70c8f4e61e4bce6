import type { Instant } from "@carillon/core";
import { alikeRuns, type HandedRunStore, type NewRun, type Notice, type Offer, type Queued } from "@carillon/store";
import type { Offers } from "./slot-offers.js";

/** Runs that are stored for a worker of this process: it is told by a call. */
export interface LocalArrival {
  came(at: Instant): void;
  /** They were not stored for it, or nobody knows. */
  failed(): void;
}

export interface HandOverOptions {
  readonly store: Pick<HandedRunStore, "insert">;
  readonly offers: Pick<Offers, "find" | "nextUse" | "use" | "refused">;
  /** Of an offer of this process itself; null: it is another's. */
  readonly arrivalOf: (offer: Offer, runs: readonly NewRun[]) => LocalArrival | null;
  /** What tells the gateway elsewhere that made the offer; null: too much to be told. */
  readonly noticeOf: (offer: Offer, number: number, runs: readonly NewRun[]) => Notice | null;
  readonly hintOf: (queued: readonly Queued[]) => Notice | null;
  /** Names the gateway of this process: its workers come first. */
  readonly ownGateway: () => string;
}

export interface HandedOver {
  readonly at: Instant;
  /** The worker has them. Otherwise they are queued: the offer did not hold any more. */
  readonly isHanded: boolean;
}

/** Stores runs as those of a worker that offered to take them: between the call and the handler there is one commit then, not two. */
export class HandOver {
  readonly #options: HandOverOptions;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** null: nobody offered to take them, and they are not stored. */
  async insert(runs: readonly NewRun[]): Promise<HandedOver | null> {
    const { store, offers, noticeOf, arrivalOf, hintOf, ownGateway } = this.#options;
    const [first] = runs;
    const offer = first === undefined ? null : offers.find(first, runs.length, ownGateway());
    if (offer === null) return null;
    const alike = alikeRuns(runs);
    if (!alike.isOneKind) return null;
    const arrival = arrivalOf(offer, runs);
    const handed = arrival === null ? noticeOf(offer, offers.nextUse(offer), runs) : null;
    if (arrival === null && handed === null) return null;
    offers.use(offer, runs.length);
    try {
      const { at, isHanded } = await store.insert(alike, offer, { handed, queued: hintOf(runs) });
      if (isHanded) arrival?.came(at);
      else {
        arrival?.failed();
        offers.refused(offer);
      }
      return { at, isHanded };
    } catch (error) {
      arrival?.failed();
      throw error;
    }
  }
}
