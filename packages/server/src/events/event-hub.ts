import type { Readable } from "node:stream";
import { CarillonError, type Clock, type DurationMs, type Timers } from "@carillon/core";
import type { EventReset } from "@carillon/contract";
import type { EngineEvent } from "@carillon/engine";
import type { EventFilter } from "./event-filter.js";
import { EventRing, lost } from "./event-ring.js";
import { EventStream } from "./event-stream.js";
import { type Notice, noticeOf } from "./wire-event.js";

export interface EventHubOptions {
  /** Names this process in the ids of events. */
  readonly node: string;
  /** The time that events carry. */
  readonly now: () => number;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  readonly limits?: Partial<EventLimits>;
}

export interface EventLimits {
  /** Events that are remembered. */
  readonly ring: number;
  readonly streams: number;
  /** Events that come so close together are sent together. */
  readonly gatherMs: DurationMs;
  readonly pingMs: DurationMs;
  /** Who has not read for so long is cut off. */
  readonly stuckMs: DurationMs;
  /** Without a reader the node remembers for so long; after that, events cost nothing. */
  readonly rememberMs: DurationMs;
}

const eventLimits: EventLimits = Object.freeze({
  ring: 2_000,
  streams: 500,
  gatherMs: 20,
  pingMs: 15_000,
  stuckMs: 30_000,
  rememberMs: 60_000,
});

/** Hands the engine's events to those who follow them. Best effort, from memory, bounded. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #limits: EventLimits;
  readonly #streams = new Set<EventStream>();
  readonly #listeners = new Set<(notice: Notice) => void>();
  #ring: EventRing;
  /** Counts how often the node forgot everything. */
  #era = 1;
  #isAwake = false;
  #isStopped = false;
  #feeding: unknown = null;
  #minding: unknown = null;
  #cut = 0;
  /** When a reader went last. */
  #leftAt = 0;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#limits = { ...eventLimits, ...options.limits };
    this.#ring = new EventRing(this.#limits.ring);
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Somebody follows, or did a moment ago and may come back: what happens is remembered. */
  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** The first reader is there. */
  onWake: (() => void) | null = null;

  /** Readers that were cut off because they did not read. */
  get cut(): number {
    return this.#cut;
  }

  /** Of this node's engine. While nobody follows, it returns at once. */
  readonly publish = (event: EngineEvent): void => {
    if (!this.#isAwake && this.#listeners.size === 0) return;
    const notice = noticeOf(event, this.#options.now());
    if (notice === null) return;
    for (const listener of this.#listeners) listener(notice);
    this.take(notice);
  };

  /** Also of other nodes. */
  take(notice: Notice): void {
    this.#keep(notice);
  }

  #keep(notice: Notice | typeof lost): void {
    if (!this.#isAwake) return;
    this.#ring.add(notice);
    if (this.#streams.size > 0) this.#feeding ??= this.#options.timers.setTimeout(this.#feed, this.#limits.gatherMs);
  }

  /** Others are told of every event of this node, until the answer is called. */
  listen(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Events of other nodes were lost on the way; who comes back later is told so too. */
  missed(): void {
    this.#keep(lost);
  }

  /** Throws overloaded when there are too many readers. */
  open(filter: EventFilter, lastEventId?: string): Readable {
    if (this.#isStopped) throw new CarillonError("shutting_down", "This node is shutting down.");
    if (this.#streams.size >= this.#limits.streams) {
      throw new CarillonError("overloaded", `${this.#limits.streams} others follow the events of this node`);
    }
    const isWoken = !this.#isAwake;
    this.#isAwake = true;
    if (isWoken) this.onWake?.();
    const stream = new EventStream({
      ring: this.#ring,
      filter,
      idPrefix: `${this.#options.node}.${this.#era}.`,
      onGone: (gone) => {
        this.#streams.delete(gone);
        this.#leftAt = this.#options.clock.monotonic();
      },
      ...this.#placeAfter(lastEventId),
    });
    this.#streams.add(stream);
    this.#mind();
    return stream;
  }

  stop(): void {
    this.#isStopped = true;
    const { timers } = this.#options;
    timers.clearTimeout(this.#feeding);
    timers.clearTimeout(this.#minding);
    for (const stream of this.#streams) stream.push(null);
  }

  #placeAfter(lastEventId: string | undefined): { after: number; reset: EventReset["reason"] | null } {
    const { first, last } = this.#ring;
    if (lastEventId === undefined || lastEventId === "") return { after: last, reset: null };
    const [, node, era, number] = /^([^.]{1,64})\.(\d{1,9})\.(\d{1,15})$/.exec(lastEventId) ?? [];
    if (node !== this.#options.node) return { after: last, reset: "other_node" };
    const after = Number(number);
    const isKnown = Number(era) === this.#era && after + 1 >= first && after <= last;
    return isKnown ? { after, reset: null } : { after: last, reset: "gap" };
  }

  readonly #feed = (): void => {
    this.#feeding = null;
    for (const stream of this.#streams) stream.feed();
  };

  #mind(): void {
    if (this.#minding !== null || this.#isStopped) return;
    this.#minding = this.#options.timers.setTimeout(this.#mindNow, this.#limits.pingMs);
  }

  readonly #mindNow = (): void => {
    this.#minding = null;
    const now = this.#options.clock.monotonic();
    if (this.#streams.size === 0 && now - this.#leftAt >= this.#limits.rememberMs) return this.#sleep();
    for (const stream of this.#streams) {
      if (stream.stuckMs(now) >= this.#limits.stuckMs) this.#cutOff(stream);
      else stream.ping();
    }
    this.#mind();
  };

  #cutOff(stream: EventStream): void {
    this.#cut += 1;
    stream.destroy();
  }

  #sleep(): void {
    this.#isAwake = false;
    this.#era += 1;
    this.#ring = new EventRing(this.#limits.ring);
  }
}
