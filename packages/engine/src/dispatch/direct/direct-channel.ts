import { type Database, jsonParam, type Listening, type NewRun, type Notice, type SlotOffer } from "@carillon/store";
import type { EngineContext } from "../../context.js";
import type { LocalDelivery, SlotOffers } from "../../enqueue/direct-insert.js";
import type { DirectArrivals } from "./direct-arrivals.js";
import {
  type DirectClaim,
  NoticeCipher,
  readNotice,
  readOffer,
  toDirectRun,
  writeNotice,
  writeOffer,
} from "./direct-messages.js";

type ChannelContext = Pick<EngineContext, "loopFailed"> & { readonly db: Pick<Database, "listen" | "notify"> };

interface ServedGateway {
  readonly id: string;
  readonly arrivals: Pick<DirectArrivals, "expect" | "noticesMissed" | "receive">;
}

/** Each node has a channel of its own: for offers of other nodes, and for notices of runs that they stored for its workers. */
const channelOf = (address: string): string => `carillon_to_${address}`;

/** Carries offers to nodes that store runs, and notices of the runs to the gateway that made the offer, both encrypted. Within the node that is a call. */
export class DirectChannel {
  readonly #context: ChannelContext;
  readonly #offers: SlotOffers;
  #gateway: ServedGateway | null = null;
  #cipher: NoticeCipher | null = null;
  #listening: Listening | null = null;
  #isConnected = false;

  constructor(context: ChannelContext, offers: SlotOffers) {
    this.#context = context;
    this.#offers = offers;
  }

  /** The gateway of this node. */
  serve(gateway: ServedGateway): void {
    this.#gateway = gateway;
  }

  /** All nodes know the secret, and nothing else does. */
  start(secret: Buffer): void {
    this.#cipher = new NoticeCipher(secret);
    this.#listening = this.#context.db.listen(
      channelOf(this.gatewayId),
      (text) => this.#receive(text),
      () => this.#served.arrivals.noticesMissed(),
      () => void (this.#isConnected = true),
    );
  }

  async stop(): Promise<void> {
    this.#isConnected = false;
    await this.#listening?.stop();
  }

  get gatewayId(): string {
    return this.#served.id;
  }

  /** Where other nodes reach this one; null: they cannot yet. */
  get address(): string | null {
    return this.#isConnected ? this.gatewayId : null;
  }

  /** A node whose channel is not connected makes no offers: it would get the notices of their uses too late. */
  readonly sendOffer = (to: string, offer: SlotOffer): void => {
    const channel = channelOf(to);
    if (to === this.gatewayId) this.#offers.put(offer);
    else if (this.#isConnected && this.#cipher !== null)
      this.#context.db.notify(channel, `offer ${this.#cipher.encrypt(channel, writeOffer(offer))}`, true);
  };

  /** The notice for the statement that stores the runs to send; null: it cannot be sent. */
  noticeFor(offer: SlotOffer, number: number, runs: readonly NewRun[]): Notice | null {
    const channel = channelOf(offer.gatewayId);
    const text = writeNotice(this.gatewayId, offer, number, runs);
    return text === null || this.#cipher === null ? null : { channel, payload: this.#cipher.encrypt(channel, text) };
  }

  /** For an offer of this node itself; null: it is another's. */
  expectLocal(offer: SlotOffer, runs: readonly NewRun[]): LocalDelivery | null {
    if (offer.gatewayId !== this.gatewayId) return null;
    const { sessionId, lane, namespaceId } = offer;
    const ids = runs.map((run) => run.id);
    // As they are now: the caller may change its objects while they are stored.
    const payloads = runs.map((run) => jsonParam(run.payload));
    const notice = { from: this.gatewayId, sessionId, lane, namespaceId, ids, use: null, runs: null };
    const expected = this.#served.arrivals.expect(notice);
    const direct = (claim: DirectClaim) => (run: NewRun, place: number) =>
      toDirectRun({ ...run, payload: payloads[place] ?? "null", session: sessionId, ...claim });
    return { stored: (claim) => expected.stored(runs.map(direct(claim))), failed: () => expected.failed() };
  }

  get #served(): ServedGateway {
    if (this.#gateway === null) throw new Error("the direct channel has no gateway yet");
    return this.#gateway;
  }

  /** Nothing is thrown here: it would end the connection that listens, or the process. */
  #receive(text: string): void {
    try {
      const [kind = "", first = "", second = "", third = ""] = text.split(" ", 4);
      const decrypted = this.#cipher?.decrypt(channelOf(this.gatewayId), kind === "runs" ? third : first) ?? null;
      if (decrypted === null) return;
      const offer = kind === "offer" ? readOffer(decrypted) : null;
      const claim = { at: Number(first), fence: Number(second) };
      const isOfRuns = kind === "runs" && Number.isFinite(claim.at) && Number.isSafeInteger(claim.fence);
      const notice = isOfRuns ? readNotice(decrypted, claim) : null;
      if (offer !== null) this.#offers.put(offer);
      if (notice !== null) this.#served.arrivals.receive(notice);
    } catch (error) {
      this.#context.loopFailed("gateway", error);
    }
  }
}
