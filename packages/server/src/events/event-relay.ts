import type { Event } from "@carillon/contract";
import { type Clock, type DurationMs, eventTypes, type Timers } from "@carillon/core";
import type { Database, Listening } from "@carillon/engine";
import type { EventHub } from "./event-hub.js";
import type { PublicEvent } from "./public-event.js";

export interface EventRelayOptions {
  readonly hub: Pick<EventHub, "isAwake" | "listen" | "take" | "missed" | "onWake">;
  readonly database: Pick<Database, "listen" | "notify">;
  /** The name of this process among the nodes. */
  readonly node: string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
}

const channel = "carillon_event";
const tickMs: DurationMs = 200;
/** A node with open streams requests events this often. */
const requestIntervalMs: DurationMs = 5_000;
/** A request is valid for this time. */
const requestTtlMs: DurationMs = 3 * requestIntervalMs;
/** The maximum number of events per pass; further events are reported as missing. */
const maxEventsPerTick = 200;
/** A NOTIFY payload must be shorter than 8,000 bytes. */
const maxPayloadBytes = 7_500;

/**
 * Sends the events of all nodes to the nodes with open streams, by NOTIFY. A node with streams requests them; the other nodes then
 * forward their events, batched and bounded. Without streams nothing is sent.
 */
export class EventRelay {
  readonly #options: EventRelayOptions;
  #listening: Listening | null = null;
  #stopListening: (() => void) | null = null;
  #timer: unknown = null;
  #requestedAt = Number.NEGATIVE_INFINITY;
  #wantedUntil = Number.NEGATIVE_INFINITY;
  #pending: PublicEvent[] = [];
  #dropped = false;

  constructor(options: EventRelayOptions) {
    this.#options = options;
  }

  start(): void {
    const { database, hub } = this.#options;
    this.#listening = database.listen(
      channel,
      (payload) => this.#receive(payload),
      () => hub.missed(),
    );
    // Without waiting for the next pass: the new stream should get all events of the other nodes from now on.
    hub.onWake = () => this.tick();
    this.#pace();
  }

  async stop(): Promise<void> {
    this.#options.hub.onWake = null;
    this.#options.timers.clearTimeout(this.#timer);
    this.#stopListening?.();
    const listening = this.#listening;
    this.#listening = null;
    await listening?.stop();
  }

  #pace(): void {
    this.#timer = this.#options.timers.setTimeout(() => {
      this.tick();
      if (this.#listening !== null) this.#pace();
    }, tickMs);
  }

  /** One pass: requests events if this node stores them, and forwards events that other nodes requested. */
  tick(): void {
    const { hub, clock } = this.#options;
    const now = clock.monotonic();
    if (hub.isAwake && now - this.#requestedAt >= requestIntervalMs) {
      this.#requestedAt = now;
      this.#send("want", "");
    } else if (!hub.isAwake) this.#requestedAt = Number.NEGATIVE_INFINITY;
    if (now > this.#wantedUntil) {
      this.#stopListening?.();
      this.#stopListening = null;
      this.#pending = [];
      return;
    }
    this.#forward();
  }

  #forward(): void {
    const pending = this.#pending;
    this.#pending = [];
    let part: string[] = [];
    let bytes = 0;
    for (const { namespaceId, event } of pending) {
      const text = JSON.stringify([namespaceId, event]);
      const size = Buffer.byteLength(text) + 1;
      if (bytes + size > maxPayloadBytes && part.length > 0) {
        this.#send("events", `[${part.join(",")}]`);
        part = [];
        bytes = 0;
      }
      if (size > maxPayloadBytes) continue;
      part.push(text);
      bytes += size;
    }
    if (part.length > 0) this.#send("events", `[${part.join(",")}]`);
    if (this.#dropped) this.#send("missed", String(this.#options.clock.monotonic()));
    this.#dropped = false;
  }

  readonly #collect = (publicEvent: PublicEvent): void => {
    if (this.#pending.length < maxEventsPerTick) this.#pending.push(publicEvent);
    else this.#dropped = true;
  };

  #send(kind: string, body: string): void {
    this.#options.database.notify(channel, `${kind} ${this.#options.node} ${body}`);
  }

  #receive(payload: string): void {
    const { hub, clock, node } = this.#options;
    const [, kind, from, body = ""] = /^(\w+) (\S+) ?(.*)$/s.exec(payload) ?? [];
    if (from === undefined || from === node) return;
    if (kind === "want") {
      this.#wantedUntil = clock.monotonic() + requestTtlMs;
      this.#stopListening ??= hub.listen(this.#collect);
      return;
    }
    if (!hub.isAwake) return;
    if (kind === "missed") hub.missed();
    if (kind === "events") for (const publicEvent of readPublicEvents(body)) hub.take(publicEvent);
  }
}

/** Other nodes may have another version: unknown events are ignored. */
function readPublicEvents(body: string): PublicEvent[] {
  const known: ReadonlySet<string> = new Set(eventTypes);
  const list = parsed(body);
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: unknown) => {
    if (!Array.isArray(one)) return [];
    const [namespaceId, event]: unknown[] = one;
    if (typeof namespaceId !== "number" && namespaceId !== null) return [];
    if (typeof event !== "object" || event === null || !("type" in event) || !known.has(String(event.type))) return [];
    return [{ namespaceId, event: event as Event }];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
