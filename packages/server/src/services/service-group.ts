import { CarillonError } from "@carillon/core";
import type { Service } from "./service.js";

/** What a group tells while it works; tests wait for these moments, the node logs them. */
export interface GroupObserver {
  readonly started?: (service: string) => void;
  readonly stopped?: (service: string) => void;
}

/**
 * Services as one: started in order, stopped in reverse. Calls take effect in the order in which they were made. A stop
 * ends a start that is under way after the service in hand; that start then throws shutting_down. If a service does not
 * start, those before it are stopped again and its error is thrown. A stop goes on past services that fail to stop.
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
      if (stopAsked()) throw new CarillonError("shutting_down", `${this.name} was stopped before it had started`);
      try {
        await service.start();
      } catch (error) {
        // The reason for the failed start is what the caller needs; a failed clean-up would only hide it.
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
      throw new AggregateError(failures, `${failures.length} services of ${this.name} did not stop`);
  }
}
