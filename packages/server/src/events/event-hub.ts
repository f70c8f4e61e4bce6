import type { Readable } from "node:stream";
import type { EventReset } from "@carillon/contract";
import { CarillonError, type Clock, type DurationMs, type Timers } from "@carillon/core";
import type { EngineEvent } from "@carillon/engine";
import { EventRing, EventStream, lost } from "./event-stream.js";
import { type EventFilter, type PublicEvent, toPublicEvent } from "./public-event.js";

export interface EventHubOptions {
  /** The name of this process in the ids of events. */
  readonly node: string;
  /** The time of new events. */
  readonly now: () => number;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  readonly limits?: Partial<EventLimits>;
}

export interface EventLimits {
  /** The number of stored events. */
  readonly ring: number;
  readonly streams: number;
  /** Events within this time are sent together. */
  readonly gatherMs: DurationMs;
  readonly pingMs: DurationMs;
  /** A stream whose client has not read for this time is dropped. */
  readonly stalledMs: DurationMs;
  /** Without a stream the node stores events for this time; afterwards, events cost nothing. */
  readonly retainMs: DurationMs;
}

const eventLimits: EventLimits = Object.freeze({
  ring: 2_000,
  streams: 500,
  gatherMs: 20,
  pingMs: 15_000,
  stalledMs: 30_000,
  retainMs: 60_000,
});

/** Delivers the engine's events to the open streams: best effort, from memory, bounded. */
export class EventHub {
  readonly #options: EventHubOptions;
  readonly #limits: EventLimits;
  readonly #streams = new Set<EventStream>();
  readonly #listeners = new Set<(publicEvent: PublicEvent) => void>();
  #ring: EventRing;
  /** Incremented when the ring is cleared: ids of an earlier epoch are unknown. */
  #epoch = 1;
  #isAwake = false;
  #isStopped = false;
  #feedTimer: unknown = null;
  #maintenanceTimer: unknown = null;
  #dropped = 0;
  /** When the last stream was closed. */
  #closedAt = 0;

  constructor(options: EventHubOptions) {
    this.#options = options;
    this.#limits = { ...eventLimits, ...options.limits };
    this.#ring = new EventRing(this.#limits.ring);
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Whether events are stored: a stream is open, or was a short time ago and may reconnect. */
  get isAwake(): boolean {
    return this.#isAwake;
  }

  /** Called when the first stream is opened. */
  onWake: (() => void) | null = null;

  /** Streams that were dropped because their client did not read. */
  get dropped(): number {
    return this.#dropped;
  }

  /** For events of this node's engine. Returns at once when no stream and no node needs them. */
  readonly publish = (event: EngineEvent): void => {
    if (!this.#isAwake && this.#listeners.size === 0) return;
    const publicEvent = toPublicEvent(event, this.#options.now());
    if (publicEvent === null) return;
    for (const listener of this.#listeners) listener(publicEvent);
    this.take(publicEvent);
  };

  /** For events of any node. */
  take(publicEvent: PublicEvent | typeof lost): void {
    if (!this.#isAwake) return;
    this.#ring.add(publicEvent);
    if (this.#streams.size > 0) this.#feedTimer ??= this.#options.timers.setTimeout(this.#feed, this.#limits.gatherMs);
  }

  /** Passes every event of this node to the listener, until the returned function is called. */
  listen(listener: (publicEvent: PublicEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Events of other nodes were lost on the way: open and reconnecting streams get a reset. */
  missed(): void {
    this.take(lost);
  }

  /** Throws overloaded when there are too many streams. */
  open(filter: EventFilter, lastEventId?: string): Readable {
    if (this.#isStopped) throw new CarillonError("shutting_down", "This node is shutting down.");
    if (this.#streams.size >= this.#limits.streams) {
      throw new CarillonError("overloaded", `This node has ${this.#limits.streams} event streams open.`);
    }
    const wasAsleep = !this.#isAwake;
    this.#isAwake = true;
    if (wasAsleep) this.onWake?.();
    const stream = new EventStream({
      ring: this.#ring,
      filter,
      idPrefix: `${this.#options.node}.${this.#epoch}.`,
      onClosed: (closed) => {
        this.#streams.delete(closed);
        this.#closedAt = this.#options.clock.monotonic();
      },
      ...this.#positionAfter(lastEventId),
    });
    this.#streams.add(stream);
    this.#scheduleMaintenance();
    return stream;
  }

  stop(): void {
    this.#isStopped = true;
    const { timers } = this.#options;
    timers.clearTimeout(this.#feedTimer);
    timers.clearTimeout(this.#maintenanceTimer);
    for (const stream of this.#streams) stream.push(null);
  }

  #positionAfter(lastEventId: string | undefined): { after: number; reset: EventReset["reason"] | null } {
    const { first, last } = this.#ring;
    if (lastEventId === undefined || lastEventId === "") return { after: last, reset: null };
    const [, node, epoch, number] = /^([^.]{1,64})\.(\d{1,9})\.(\d{1,15})$/.exec(lastEventId) ?? [];
    if (node !== this.#options.node) return { after: last, reset: "other_node" };
    const after = Number(number);
    const isKnown = Number(epoch) === this.#epoch && after + 1 >= first && after <= last;
    return isKnown ? { after, reset: null } : { after: last, reset: "gap" };
  }

  readonly #feed = (): void => {
    this.#feedTimer = null;
    for (const stream of this.#streams) stream.feed();
  };

  #scheduleMaintenance(): void {
    if (this.#maintenanceTimer !== null || this.#isStopped) return;
    this.#maintenanceTimer = this.#options.timers.setTimeout(this.#maintain, this.#limits.pingMs);
  }

  readonly #maintain = (): void => {
    this.#maintenanceTimer = null;
    const now = this.#options.clock.monotonic();
    if (this.#streams.size === 0 && now - this.#closedAt >= this.#limits.retainMs) return this.#sleep();
    for (const stream of this.#streams) {
      if (stream.stalledMs(now) >= this.#limits.stalledMs) this.#drop(stream);
      else stream.ping();
    }
    this.#scheduleMaintenance();
  };

  #drop(stream: EventStream): void {
    this.#dropped += 1;
    stream.destroy();
  }

  #sleep(): void {
    this.#isAwake = false;
    this.#epoch += 1;
    this.#ring = new EventRing(this.#limits.ring);
  }
}
