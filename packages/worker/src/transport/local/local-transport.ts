import type { Assignment, Completion, NoteAnswer, RunNote, StopOrder } from "@carillon/core";
import type { Registration, StartedRun, Transport, TransportEvents } from "../../runtime/transport.js";

interface LocalRegistration extends Registration {
  readonly namespace: string;
  readonly nodeId: string | null;
  readonly onAssign: (assignments: readonly Assignment[]) => void;
  readonly onStop: (orders: readonly StopOrder[]) => void;
  readonly onLost: () => void;
}

/** What the in-process transport needs of the engine's gateway; the gateway has this form without knowing of workers. */
export interface LocalGateway {
  open(registration: LocalRegistration): Promise<string>;
  resume(sessionId: string): void;
  pause(sessionId: string): Promise<void>;
  complete(sessionId: string, completions: readonly Completion[]): Promise<ReadonlySet<string>>;
  started(sessionId: string, runs: readonly StartedRun[]): Promise<void>;
  giveBack(sessionId: string, runs: readonly { runId: string; fence: number }[]): Promise<void>;
  note(sessionId: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]>;
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
    const { onStop, onLost, onAssign } = events;
    this.#session = await this.#gateway.open({
      ...registration,
      namespace,
      nodeId: nodeId(),
      onStop,
      onLost,
      onAssign,
    });
    this.#gateway.resume(this.#session);
  }

  async pause(): Promise<void> {
    if (this.#session !== null && this.#gateway.isOpen(this.#session)) await this.#gateway.pause(this.#session);
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#gateway.complete(this.#id(), completions);
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    await this.#gateway.started(this.#id(), runs);
  }

  async giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void> {
    await this.#gateway.giveBack(this.#id(), runs);
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    return this.#gateway.note(this.#id(), notes);
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
