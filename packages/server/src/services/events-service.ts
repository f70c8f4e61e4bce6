import { randomBytes } from "node:crypto";
import { systemClock, systemTimers } from "@carillon/core";
import type { Database } from "@carillon/engine";
import type { Service } from "./service.js";
import { EventHub } from "../events/event-hub.js";
import { EventRelay } from "../events/event-relay.js";

const ports = { clock: systemClock, timers: systemTimers };

/** The event streams of this node, with the events of all nodes. */
export class EventsService implements Service {
  readonly name = "events";
  readonly hub: EventHub;
  readonly #node = randomBytes(6).toString("hex");
  readonly #database: () => Database;
  #relay: EventRelay | null = null;

  constructor(database: () => Database) {
    this.#database = database;
    this.hub = new EventHub({ node: this.#node, now: () => this.#database().clock.now(), ...ports });
  }

  async start(): Promise<void> {
    if (this.#relay !== null) return;
    this.#relay = new EventRelay({ hub: this.hub, database: this.#database(), node: this.#node, ...ports });
    this.#relay.start();
  }

  async stop(): Promise<void> {
    this.hub.stop();
    const relay = this.#relay;
    this.#relay = null;
    await relay?.stop();
  }
}
