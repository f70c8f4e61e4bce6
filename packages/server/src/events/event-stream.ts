import { Readable } from "node:stream";
import type { EventReset } from "@carillon/contract";
import { type EventFilter, type PublicEvent, passes } from "./public-event.js";

/** Stored in place of events that were lost on their way from another node. */
export const lost = "lost";

/** The last events, numbered from 1. Older ones are overwritten: memory does not grow. */
export class EventRing {
  readonly #size: number;
  readonly #events: (PublicEvent | typeof lost)[] = [];
  #last = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** The number of the last event; 0 before the first one. */
  get last(): number {
    return this.#last;
  }

  /** The number of the oldest event in the ring. */
  get first(): number {
    return Math.max(1, this.#last - this.#size + 1);
  }

  add(publicEvent: PublicEvent | typeof lost): void {
    this.#last += 1;
    this.#events[this.#last % this.#size] = publicEvent;
  }

  get(number: number): PublicEvent | typeof lost | undefined {
    return number < this.first || number > this.#last ? undefined : this.#events[number % this.#size];
  }
}

/** The maximum size of one write, and of the data buffered for a client. */
const chunkBytes = 65_536;

export interface EventStreamOptions {
  readonly ring: EventRing;
  readonly filter: EventFilter;
  /** The number of the event after which the stream begins. */
  readonly after: number;
  /** The prefix of the ids: the node and the epoch of its ring. */
  readonly idPrefix: string;
  readonly reset: EventReset["reason"] | null;
  readonly onClosed: (stream: EventStream) => void;
}

/**
 * The events for one client. It stores a position in the ring and no events: a slow client costs nothing, and gets a reset when the
 * ring no longer has its next event.
 */
export class EventStream extends Readable {
  readonly #options: EventStreamOptions;
  #after: number;
  #isReady = false;
  #hasBegun = false;
  #stalledSince: number | null = null;

  constructor(options: EventStreamOptions) {
    super({ highWaterMark: chunkBytes, encoding: "utf8" });
    this.#options = options;
    this.#after = options.after;
  }

  override _read(): void {
    this.#isReady = true;
    this.#stalledSince = null;
    this.feed();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.onClosed(this);
    done(error);
  }

  /** Sends new events to a client that is ready to read. */
  feed(): void {
    if (!this.#isReady) return;
    const text = this.#hasBegun ? this.#newEvents() : this.#firstLines() + this.#newEvents();
    this.#hasBegun = true;
    if (text !== "") this.#send(text);
  }

  /** A heartbeat for the client and for proxies in between. */
  ping(): void {
    if (this.#isReady) this.#send(": ping\n\n");
  }

  /** For how long the client has not read the buffered data. */
  stalledMs(now: number): number {
    if (this.#isReady) return 0;
    this.#stalledSince ??= now;
    return now - this.#stalledSince;
  }

  #send(text: string): void {
    this.#isReady = this.push(text);
  }

  #firstLines(): string {
    const { reset } = this.#options;
    // An id without data: a client that loses the connection before the first event can still name its position.
    const start = `retry: 2000\nid: ${this.#id(this.#after)}\n\n`;
    return reset === null ? start : start + this.#reset({ reason: reset });
  }

  #newEvents(): string {
    const { ring, filter } = this.#options;
    let text = "";
    if (this.#after + 1 < ring.first) {
      const missed = ring.first - 1 - this.#after;
      this.#after = ring.first - 1;
      text = this.#reset({ reason: "gap", missed });
    }
    while (this.#after < ring.last && text.length < chunkBytes) {
      this.#after += 1;
      const publicEvent = ring.get(this.#after);
      if (publicEvent === lost) text += this.#reset({ reason: "gap" });
      else if (publicEvent !== undefined && passes(filter, publicEvent)) text += this.#event(publicEvent);
    }
    return text;
  }

  #event({ event }: PublicEvent): string {
    return `id: ${this.#id(this.#after)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #reset(data: EventReset): string {
    return `id: ${this.#id(this.#after)}\nevent: reset\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #id(number: number): string {
    return `${this.#options.idPrefix}${number}`;
  }
}
