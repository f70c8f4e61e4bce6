import type { Instant } from "@carillon/core";
import type { Offer } from "../model/offers.js";
import { alikeRuns } from "../store/entities/alike-runs.js";
import type { HandedRunStore } from "../store/entities/handed-runs.js";
import type { NewRun, Notice, Queued } from "../store/entities/runs.js";
import type { Offers } from "./offers.js";

export interface HandOverOptions {
  readonly store: HandedRunStore;
  readonly offers: Offers;
  /** What tells the gateway that made the offer; null: it is of this process, and told by `onHanded`. */
  readonly noticeOf: (offer: Offer, runs: readonly NewRun[]) => Notice | null | "too long";
  readonly hintOf: (queued: readonly Queued[]) => Notice | null;
  readonly onHanded: (offer: Offer, runs: readonly NewRun[], at: Instant) => void;
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
    const { store, offers, noticeOf, hintOf, onHanded } = this.#options;
    const [first] = runs;
    const offer = first === undefined ? null : offers.find(first, runs.length);
    if (offer === null) return null;
    const alike = alikeRuns(runs);
    const handed = alike.isOneKind ? noticeOf(offer, runs) : "too long";
    if (handed === "too long") return null;
    offers.use(offer, runs.length);
    const { at, isHanded } = await store.insert(alike, offer, { handed, queued: hintOf(runs) });
    if (!isHanded) offers.refused(offer);
    else if (handed === null) onHanded(offer, runs, at);
    return { at, isHanded };
  }
}
