import { randomBytes } from "node:crypto";
import { systemClock, systemTimers } from "@carillon/core";
import type { Database } from "@carillon/engine";
import { HoldingService } from "./service.js";
import { EventHub } from "../events/event-hub.js";
import { EventRelay } from "../events/event-relay.js";

const ports = { clock: systemClock, timers: systemTimers };

/** The event streams of this node, with the events of all nodes. */
export class EventsService extends HoldingService<EventRelay> {
  readonly name = "events";
  readonly hub: EventHub;
  readonly #node = randomBytes(6).toString("hex");
  readonly #database: () => Database;

  constructor(database: () => Database) {
    super();
    this.#database = database;
    this.hub = new EventHub({ node: this.#node, now: () => this.#database().clock.now(), ...ports });
  }

  protected async acquire(): Promise<EventRelay> {
    const relay = new EventRelay({ hub: this.hub, database: this.#database(), node: this.#node, ...ports });
    relay.start();
    return relay;
  }

  override stop(): Promise<void> {
    this.hub.stop();
    return super.stop();
  }

  protected release(relay: EventRelay): Promise<void> {
    return relay.stop();
  }
}
