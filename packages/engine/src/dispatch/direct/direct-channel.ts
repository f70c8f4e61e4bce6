import type { Gateway } from "../gateway.js";
import type { LocalArrival } from "../../enqueue/direct-insert.js";
import type { Offers } from "../../enqueue/slot-offers.js";
import { type Database, jsonParam, type Listening, type NewRun, type Notice, type Offer } from "@carillon/store";
import { handedRun, offerOf, textOfOffer, textOfWord, wordOf } from "./direct-messages.js";
import { Seal } from "./notice-cipher.js";

export interface HandOverLineOptions {
  readonly database: Pick<Database, "listen" | "notify">;
  readonly gateway: () => Pick<Gateway, "id" | "handed">;
  readonly offers: Offers;
  readonly onError: (error: unknown) => void;
}

/** Each node has a channel of its own: for offers of others, and for word of runs that others stored for its workers. */
const channelOf = (address: string): string => `carillon_to_${address}`;

/** Carries offers to who stores runs, and word of the runs to who offered, both sealed. Within the node that is a call. */
export class HandOverLine {
  readonly #options: HandOverLineOptions;
  #seal: Seal | null = null;
  #listening: Listening | null = null;
  #isHeard = false;

  constructor(options: HandOverLineOptions) {
    this.#options = options;
  }

  /** The secret is known to all nodes and to nobody else. */
  start(secret: Buffer): void {
    const { database, gateway } = this.#options;
    this.#seal = new Seal(secret);
    this.#listening = database.listen(
      channelOf(this.ownGateway),
      (text) => this.#take(text),
      () => gateway().handed.missed(),
      () => void (this.#isHeard = true),
    );
  }

  async stop(): Promise<void> {
    this.#isHeard = false;
    await this.#listening?.stop();
  }

  get ownGateway(): string {
    return this.#options.gateway().id;
  }

  /** Where others reach this node; null: nowhere yet. */
  get address(): string | null {
    return this.#isHeard ? this.ownGateway : null;
  }

  /** Who is not heard makes no offers: it would hear too late of what came of them. */
  readonly send = (to: string, offer: Offer): void => {
    const { database, offers } = this.#options;
    const channel = channelOf(to);
    if (to === this.ownGateway) offers.put(offer);
    else if (this.#isHeard && this.#seal !== null)
      database.notify(channel, `offer ${this.#seal.close(channel, textOfOffer(offer))}`, true);
  };

  /** For the statement that stores the runs; null: they cannot be told of. */
  noticeOf(offer: Offer, number: number, runs: readonly NewRun[]): Notice | null {
    const channel = channelOf(offer.gatewayId);
    const text = textOfWord(this.ownGateway, offer, number, runs);
    return text === null || this.#seal === null ? null : { channel, payload: this.#seal.close(channel, text) };
  }

  /** Of an offer of this node itself; null: it is another's. */
  arrivalOf(offer: Offer, runs: readonly NewRun[]): LocalArrival | null {
    const { gateway } = this.#options;
    if (offer.gatewayId !== this.ownGateway) return null;
    const { sessionId, lane, namespaceId } = offer;
    const ids = runs.map((run) => run.id);
    // As they are now: whoever asked for them may change what it gave.
    const payloads = runs.map((run) => jsonParam(run.payload));
    const word = { from: this.ownGateway, sessionId, lane, namespaceId, ids, by: null, runs: null };
    const expected = gateway().handed.expect(word);
    const handed = (at: number) => (run: NewRun, place: number) =>
      handedRun({ ...run, payload: payloads[place] ?? "null", session: sessionId, at });
    return { came: (at) => expected.came(runs.map(handed(at))), failed: () => expected.failed() };
  }

  /** Nothing is thrown here: it would end the connection that listens, or the process. */
  #take(text: string): void {
    try {
      const [kind = "", first = "", second = ""] = text.split(" ", 3);
      const opened = this.#seal?.open(channelOf(this.ownGateway), kind === "runs" ? second : first) ?? null;
      if (opened === null) return;
      const offer = kind === "offer" ? offerOf(opened) : null;
      const at = Number(first);
      const word = kind === "runs" && Number.isFinite(at) ? wordOf(opened, at) : null;
      if (offer !== null) this.#options.offers.put(offer);
      if (word !== null) this.#options.gateway().handed.told(word);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
