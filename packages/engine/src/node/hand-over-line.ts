import type { Instant } from "@carillon/core";
import type { Gateway } from "../dispatch/gateway.js";
import type { Offers } from "../enqueue/offers.js";
import type { Offer } from "../model/offers.js";
import type { Database, Listening } from "../store/db/database.js";
import type { NewRun, Notice } from "../store/entities/runs.js";
import { handedHere, textOfHanded, toHanded } from "./handed-text.js";

export interface HandOverLineOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly gateway: () => Pick<Gateway, "id" | "takeHanded" | "missedHanded">;
  readonly offers: Offers;
}

/** Each node has a channel of its own: for offers of others, and for runs that others stored for its workers. */
const channelOf = (address: string): string => `carillon_to_${address}`;

/** Carries offers to who stores runs, and word of the runs to who offered. Within the node that is a call. */
export class HandOverLine {
  readonly #options: HandOverLineOptions;
  #listening: Listening | null = null;
  #isHeard = false;

  constructor(options: HandOverLineOptions) {
    this.#options = options;
  }

  start(): void {
    const { database, gateway } = this.#options;
    this.#listening = database.listen(
      channelOf(gateway().id),
      (text) => this.#take(text),
      () => gateway().missedHanded(),
      () => void (this.#isHeard = true),
    );
  }

  async stop(): Promise<void> {
    this.#isHeard = false;
    await this.#listening?.stop();
  }

  /** Where others reach this node; null: nowhere yet. */
  get address(): string | null {
    return this.#isHeard ? this.#options.gateway().id : null;
  }

  /** Who is not heard makes no offers: it would not hear of what came of them. */
  readonly send = (to: string, offer: Offer): void => {
    const { database, gateway, offers } = this.#options;
    if (to === gateway().id) offers.put(offer);
    else if (this.#isHeard) database.notify(channelOf(to), `offer ${JSON.stringify(offer)}`, true);
  };

  /** For the statement that stores the runs. */
  noticeOf(offer: Offer, runs: readonly NewRun[]): Notice | null | "too long" {
    const { id } = this.#options.gateway();
    if (offer.gatewayId === id) return null;
    const payload = textOfHanded(id, offer, runs);
    return payload === null ? "too long" : { channel: channelOf(offer.gatewayId), payload };
  }

  handed(offer: Offer, runs: readonly NewRun[], at: Instant): void {
    const gateway = this.#options.gateway();
    gateway.takeHanded(handedHere(gateway.id, offer, runs, at));
  }

  #take(text: string): void {
    if (text.startsWith("offer ")) this.#options.offers.put(JSON.parse(text.slice(6)) as Offer);
    else if (text.startsWith("runs ")) this.#options.gateway().takeHanded(toHanded(text));
  }
}
