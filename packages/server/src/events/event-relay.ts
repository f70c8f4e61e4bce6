import type { Clock, DurationMs, Timers } from "@carillon/core";
import { type Event, eventTypes } from "@carillon/contract";
import type { Database, Listening } from "@carillon/engine";
import type { EventHub } from "./event-hub.js";
import type { Notice } from "./wire-event.js";

export interface EventRelayOptions {
  readonly hub: Pick<EventHub, "isAwake" | "listen" | "take" | "missed" | "onWake">;
  readonly database: Pick<Database, "listen" | "notify">;
  /** Names this process among the others. */
  readonly node: string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
}

const channel = "carillon_event";
const everyMs: DurationMs = 200;
/** A node that has readers says so this often. */
const askEveryMs: DurationMs = 5_000;
/** It is believed for so long. */
const believedMs: DurationMs = 3 * askEveryMs;
/** What one pass passes on at most; whatever is more is said to be missing. */
const mostPerPass = 200;
/** NOTIFY takes less than 8,000 bytes. */
const payloadBytes = 7_500;

/**
 * Brings the events of all nodes to the one that a reader has come to. Nodes with readers ask for them; those that hear it pass
 * on what happens, gathered and bounded, by NOTIFY. While nobody follows, nothing is sent.
 */
export class EventRelay {
  readonly #options: EventRelayOptions;
  #listening: Listening | null = null;
  #stopListening: (() => void) | null = null;
  #timer: unknown = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #wantedUntil = Number.NEGATIVE_INFINITY;
  #waiting: Notice[] = [];
  #dropped = false;

  constructor(options: EventRelayOptions) {
    this.#options = options;
  }

  start(): void {
    const { database, hub } = this.#options;
    this.#listening = database.listen(
      channel,
      (payload) => this.#hear(payload),
      () => hub.missed(),
    );
    // Without waiting for the next pass: what the others do from now on is to be seen.
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
    }, everyMs);
  }

  /** One pass: asks the others if somebody follows here, or may come back, and passes on what they asked for. */
  tick(): void {
    const { hub, clock } = this.#options;
    const now = clock.monotonic();
    if (hub.isAwake && now - this.#askedAt >= askEveryMs) {
      this.#askedAt = now;
      this.#send("want", "");
    } else if (!hub.isAwake) this.#askedAt = Number.NEGATIVE_INFINITY;
    if (now > this.#wantedUntil) {
      this.#stopListening?.();
      this.#stopListening = null;
      this.#waiting = [];
      return;
    }
    this.#passOn();
  }

  #passOn(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    let part: string[] = [];
    let bytes = 0;
    for (const { namespaceId, event } of waiting) {
      const text = JSON.stringify([namespaceId, event]);
      const size = Buffer.byteLength(text) + 1;
      if (bytes + size > payloadBytes && part.length > 0) {
        this.#send("events", `[${part.join(",")}]`);
        part = [];
        bytes = 0;
      }
      if (size > payloadBytes) continue;
      part.push(text);
      bytes += size;
    }
    if (part.length > 0) this.#send("events", `[${part.join(",")}]`);
    if (this.#dropped) this.#send("missed", String(this.#options.clock.monotonic()));
    this.#dropped = false;
  }

  readonly #collect = (notice: Notice): void => {
    if (this.#waiting.length < mostPerPass) this.#waiting.push(notice);
    else this.#dropped = true;
  };

  #send(kind: string, body: string): void {
    this.#options.database.notify(channel, `${kind} ${this.#options.node} ${body}`);
  }

  #hear(payload: string): void {
    const { hub, clock, node } = this.#options;
    const [, kind, from, body = ""] = /^(\w+) (\S+) ?(.*)$/s.exec(payload) ?? [];
    if (from === undefined || from === node) return;
    if (kind === "want") {
      this.#wantedUntil = clock.monotonic() + believedMs;
      this.#stopListening ??= hub.listen(this.#collect);
      return;
    }
    if (!hub.isAwake) return;
    if (kind === "missed") hub.missed();
    if (kind === "events") for (const notice of readNotices(body)) hub.take(notice);
  }
}

/** Other nodes may be of another version: what is not understood is left out. */
function readNotices(body: string): Notice[] {
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
