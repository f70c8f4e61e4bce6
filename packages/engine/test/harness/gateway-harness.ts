import { Gateway } from "../../src/dispatch/gateway.js";
import type { GatewayOptions } from "../../src/dispatch/gateway-options.js";
import type { EngineEvent } from "../../src/events.js";
import { hostPorts, newId, type StoreHarness } from "./store-harness.js";

/** What went wrong in the background, for tests to wait for. */
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

/** A gateway over a store, whose full looks come only when the test says so. */
export function gatewayOver(h: StoreHarness, over: Partial<GatewayOptions> = {}): GatewayHarness {
  const errors = new Errors();
  const events: EngineEvent[] = [];
  const {
    claims,
    sessions,
    lanes,
    namespaces,
    namespaceBook,
    breakers,
    queueBook,
    taskBook,
    rank,
    records,
    callbacks,
    upstream,
  } = h.store;
  const gateway = new Gateway({
    claims,
    sessions,
    lanes,
    namespaces,
    queues: queueBook,
    tasks: taskBook,
    limitOwners: { isLimited: () => false, revision: 0 },
    breakers,
    weightOf: (namespaceId) => namespaceBook.weightOf(namespaceId),
    rank,
    onDuration: () => undefined,
    records,
    callbacks,
    upstream,
    clock: hostPorts.clock,
    timers: hostPorts.timers,
    now: Date.now,
    random: () => 0.5,
    newId,
    fullLookMs: 3_600_000,
    doubtMs: 30_000,
    batch: 500,
    onRetry: () => undefined,
    onQueued: () => undefined,
    onFreed: () => undefined,
    onStopped: async () => undefined,
    onFailed: () => undefined,
    isToldOf: () => false,
    onEvent: (event) => void events.push(event),
    onError: (error) => errors.take(error),
    ...over,
  });
  return { gateway, errors, events };
}
