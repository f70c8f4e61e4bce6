import type { Assignment, Completion } from "@carillon/core";
import type { PollRequest, Registration, Transport, TransportEvents } from "../../runtime/transport.js";

/** What the in-process transport needs of the engine's gateway; the gateway has this form without knowing of workers. */
export interface LocalGateway {
  open(registration: Registration & TransportEvents & { namespace: string; nodeId: string | null }): Promise<string>;
  poll(sessionId: string, request: PollRequest): Promise<readonly Assignment[]>;
  complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  giveBack(sessionId: string, runs: readonly { runId: string; fence: number }[]): Promise<void>;
  close(sessionId: string): Promise<void>;
  isOpen(sessionId: string): boolean;
}

/** The worker inside a node or inside the user's own process: calls in place of requests. */
export class LocalTransport implements Transport {
  readonly #gateway: LocalGateway;
  readonly #place: { readonly namespace: string; readonly nodeId: () => string | null };
  #session: string | null = null;

  constructor(gateway: LocalGateway, place: { namespace: string; nodeId: () => string | null }) {
    this.#gateway = gateway;
    this.#place = place;
  }

  async open(registration: Registration, events: TransportEvents): Promise<void> {
    const { namespace, nodeId } = this.#place;
    this.#session = await this.#gateway.open({ ...registration, ...events, namespace, nodeId: nodeId() });
  }

  async poll(request: PollRequest): Promise<readonly Assignment[]> {
    return this.#gateway.poll(this.#id(), request);
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#gateway.complete(this.#id(), completions);
  }

  async giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void> {
    await this.#gateway.giveBack(this.#id(), runs);
  }

  async close(): Promise<void> {
    if (this.#session !== null) await this.#gateway.close(this.#session);
    this.#session = null;
  }

  isSessionLost(): boolean {
    return this.#session === null || !this.#gateway.isOpen(this.#session);
  }

  #id(): string {
    if (this.#session === null) throw new Error("the worker is not registered");
    return this.#session;
  }
}
