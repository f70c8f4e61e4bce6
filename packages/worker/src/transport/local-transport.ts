import type { Assignment, Completion, NoteAnswer, RunNote, StopOrder } from "@carillon/core";
import type { CreateRuns, Registration, StartedRun, Transport, TransportEvents } from "../runtime/transport.js";

interface LocalRegistration extends Registration {
  readonly namespace: string;
  readonly nodeId: string | null;
  readonly onAssign: (assignments: readonly Assignment[]) => void;
  readonly onStop: (orders: readonly StopOrder[]) => void;
  readonly onLost: () => void;
}

/** The part of the engine's gateway that the in-process transport calls. The gateway matches it structurally, without an import. */
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

/** Connects a worker to the engine in the same process: direct calls instead of requests. */
export class LocalTransport implements Transport {
  readonly #gateway: LocalGateway;
  readonly #node: { readonly namespace: string; readonly nodeId: () => string | null };
  #sessionId: string | null = null;

  readonly createRuns?: CreateRuns;

  /** Without `createRuns` its handlers create no runs. */
  constructor(
    gateway: LocalGateway,
    node: { namespace: string; nodeId: () => string | null },
    createRuns?: CreateRuns,
  ) {
    this.#gateway = gateway;
    this.#node = node;
    if (createRuns !== undefined) this.createRuns = createRuns;
  }

  async open(registration: Registration, events: TransportEvents): Promise<void> {
    const { namespace, nodeId } = this.#node;
    const { onStop, onLost, onAssign } = events;
    this.#sessionId = await this.#gateway.open({
      ...registration,
      namespace,
      nodeId: nodeId(),
      onStop,
      onLost,
      onAssign,
    });
    this.#gateway.resume(this.#sessionId);
  }

  async pause(): Promise<void> {
    if (this.#sessionId !== null && this.#gateway.isOpen(this.#sessionId)) await this.#gateway.pause(this.#sessionId);
  }

  async complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    return this.#gateway.complete(this.#openSession(), completions);
  }

  async started(runs: readonly StartedRun[]): Promise<void> {
    await this.#gateway.started(this.#openSession(), runs);
  }

  async giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void> {
    await this.#gateway.giveBack(this.#openSession(), runs);
  }

  async note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    return this.#gateway.note(this.#openSession(), notes);
  }

  async close(): Promise<void> {
    if (this.#sessionId !== null) await this.#gateway.close(this.#sessionId);
    this.#sessionId = null;
  }

  isSessionLost(): boolean {
    return this.#sessionId === null || !this.#gateway.isOpen(this.#sessionId);
  }

  #openSession(): string {
    if (this.#sessionId === null) throw new Error("the worker is not registered");
    return this.#sessionId;
  }
}
