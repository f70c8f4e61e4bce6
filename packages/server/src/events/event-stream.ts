import { Readable } from "node:stream";
import type { EventReset } from "@carillon/contract";
import { type EventFilter, passes } from "./event-filter.js";
import { type EventRing, lost } from "./event-ring.js";
import type { Notice } from "./wire-event.js";

/** Bytes that one write brings at most, and that wait for a reader. */
const chunkBytes = 65_536;

export interface EventStreamOptions {
  readonly ring: EventRing;
  readonly filter: EventFilter;
  /** The event after which it begins. */
  readonly after: number;
  /** The beginning of the ids: which node, and since when it remembers. */
  readonly idPrefix: string;
  readonly reset: EventReset["reason"] | null;
  readonly onGone: (stream: EventStream) => void;
}

/**
 * The events for one reader. It keeps a place in the ring and no events of its own: a reader that falls behind costs nothing,
 * and is told so when the ring has gone on without it.
 */
export class EventStream extends Readable {
  readonly #options: EventStreamOptions;
  #after: number;
  #wants = false;
  #isBegun = false;
  #stuckSince: number | null = null;

  constructor(options: EventStreamOptions) {
    super({ highWaterMark: chunkBytes, encoding: "utf8" });
    this.#options = options;
    this.#after = options.after;
  }

  override _read(): void {
    this.#wants = true;
    this.#stuckSince = null;
    this.feed();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#options.onGone(this);
    done(error);
  }

  /** Gives what is new to a reader that waits. */
  feed(): void {
    if (!this.#wants) return;
    const text = this.#isBegun ? this.#news() : this.#beginning() + this.#news();
    this.#isBegun = true;
    if (text !== "") this.#give(text);
  }

  /** A sign of life, for the reader and for whatever stands between. */
  ping(): void {
    if (this.#wants) this.#give(": ping\n\n");
  }

  /** For how long, at a time, nobody has read what waits. */
  stuckMs(now: number): number {
    if (this.#wants) return 0;
    this.#stuckSince ??= now;
    return now - this.#stuckSince;
  }

  #give(text: string): void {
    this.#wants = this.push(text);
  }

  #beginning(): string {
    const { reset } = this.#options;
    // An id without data: who loses the connection before the first event can still say where it was.
    const start = `retry: 2000\nid: ${this.#id(this.#after)}\n\n`;
    return reset === null ? start : start + this.#reset({ reason: reset });
  }

  #news(): string {
    const { ring, filter } = this.#options;
    let text = "";
    if (this.#after + 1 < ring.first) {
      const missed = ring.first - 1 - this.#after;
      this.#after = ring.first - 1;
      text = this.#reset({ reason: "gap", missed });
    }
    while (this.#after < ring.last && text.length < chunkBytes) {
      this.#after += 1;
      const notice = ring.get(this.#after);
      if (notice === lost) text += this.#reset({ reason: "gap" });
      else if (notice !== undefined && passes(filter, notice)) text += this.#event(notice);
    }
    return text;
  }

  #event({ event }: Notice): string {
    return `id: ${this.#id(this.#after)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }

  #reset(data: EventReset): string {
    return `id: ${this.#id(this.#after)}\nevent: reset\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #id(number: number): string {
    return `${this.#options.idPrefix}${number}`;
  }
}
