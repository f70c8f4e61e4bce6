import { CarillonError } from "@carillon/core";
import type { Logger } from "pino";
import type { Config } from "../config/options.js";

/**
 * A part of the node with the node's lifetime. `start` resolves when the service works, and cleans up before it throws; `stop`
 * resolves when the service has released everything. Both may be called in any state, any number of times.
 */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A service that holds one thing from its start to its stop. */
export abstract class HoldingService<Held> implements Service {
  abstract readonly name: string;
  #held: Held | null = null;

  /** Null while the service is stopped. */
  get held(): Held | null {
    return this.#held;
  }

  /** For callers that run only while the service does. */
  get required(): Held {
    if (this.#held === null) throw new Error(`The service ${this.name} was used before it was started.`);
    return this.#held;
  }

  async start(): Promise<void> {
    this.#held ??= await this.acquire();
  }

  async stop(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held !== null) await this.release(held);
  }

  protected abstract acquire(): Promise<Held | null>;

  protected abstract release(held: Held): Promise<void>;
}

/** The parameters that every service of a node gets. */
export interface NodeContext {
  readonly config: Config;
  readonly logger: Logger;
  readonly version: string;
  /** Aborted when the node is asked to stop, so that a start in progress ends. */
  readonly stopping: AbortSignal;
}

/** Called for each service of a group: tests wait for these moments, the node logs them. */
export interface GroupObserver {
  readonly started?: (service: string) => void;
  readonly stopped?: (service: string) => void;
}

/**
 * Several services as one: started in order, stopped in reverse. Calls take effect in the order in which they were made. A stop
 * ends a start in progress after the current service; that start then throws shutting_down. If a service fails to start, those
 * before it are stopped and its error is thrown. A stop continues after services that fail to stop.
 */
export class ServiceGroup implements Service {
  readonly name: string;
  readonly #services: readonly Service[];
  readonly #observer: GroupObserver;
  readonly #running: Service[] = [];
  #stops = 0;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(name: string, services: readonly Service[], observer: GroupObserver = {}) {
    this.name = name;
    this.#services = services;
    this.#observer = observer;
  }

  start(): Promise<void> {
    const stopsBefore = this.#stops;
    return this.#inTurn(() => this.#startAll(() => this.#stops > stopsBefore));
  }

  stop(): Promise<void> {
    this.#stops += 1;
    return this.#inTurn(() => this.#stopAll());
  }

  #inTurn(act: () => Promise<void>): Promise<void> {
    const mine = this.#tail.then(act);
    this.#tail = mine.catch(() => {});
    return mine;
  }

  async #startAll(stopAsked: () => boolean): Promise<void> {
    for (const service of this.#services.slice(this.#running.length)) {
      if (stopAsked()) throw new CarillonError("shutting_down", `The ${this.name} was stopped before it had started.`);
      try {
        await service.start();
      } catch (error) {
        // The caller needs the reason of the failed start; an error of the clean-up would hide it.
        await this.#stopAll().catch(() => {});
        throw error;
      }
      this.#running.push(service);
      this.#observer.started?.(service.name);
    }
  }

  async #stopAll(): Promise<void> {
    const failures: unknown[] = [];
    for (let service = this.#running.pop(); service !== undefined; service = this.#running.pop()) {
      try {
        await service.stop();
        this.#observer.stopped?.(service.name);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1)
      throw new AggregateError(failures, `${failures.length} services of the ${this.name} did not stop.`);
  }
}
