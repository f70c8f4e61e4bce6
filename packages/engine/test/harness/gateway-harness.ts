import { Gateway, type GatewayDeps } from "../../src/dispatch/gateway.js";
import type { EngineEvent } from "../../src/events.js";
import { dispatchContext, type DispatchOver, noChannel } from "./dispatch-context.js";
import type { StoreHarness } from "./store-harness.js";

/** Errors of the gateway's loops, for tests to wait for. */
class Errors {
  readonly #errors: unknown[] = [];
  #waiting: ((error: unknown) => void) | null = null;

  take(error: unknown): void {
    if (this.#waiting === null) this.#errors.push(error);
    else this.#waiting(error);
    this.#waiting = null;
  }

  next(): Promise<unknown> {
    if (this.#errors.length > 0) return Promise.resolve(this.#errors.shift());
    return new Promise((resolve) => (this.#waiting = resolve));
  }
}

export interface GatewayHarness {
  readonly gateway: Gateway;
  readonly errors: Errors;
  readonly events: EngineEvent[];
}

export interface GatewayOver extends DispatchOver {
  readonly channel?: GatewayDeps["channel"];
}

/** A gateway over a store, whose full scans come only when the test asks for one. */
export function gatewayOver(h: StoreHarness, { channel = noChannel, ...over }: GatewayOver = {}): GatewayHarness {
  const errors = new Errors();
  const events: EngineEvent[] = [];
  const context = dispatchContext({
    emit: (event) => void events.push(event),
    loopFailed: (_loop, error) => errors.take(error),
    ...over,
    store: { ...h.store, ...over.store },
  });
  const { rank, queues, tasks, namespaces, durations } = h.store.catalog;
  const limitOwners = { isLimited: () => false, revision: 0 };
  const catalog = { rank, queues, tasks, namespaces, durations, limitOwners };
  const gateway = new Gateway(context, { catalog, channel, hasSubscribers: () => false });
  return { gateway, errors, events };
}
