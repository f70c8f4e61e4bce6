import type { NoteAnswer, RunNote } from "@carillon/core";
import type { NamespaceStore, SessionStore } from "@carillon/store";
import type { Gateway } from "../gateway.js";
import { SessionLost } from "../sessions/session-lost.js";
import type { ClaimName, PollAnswer, PollRequest, RemoteRegistration, SignOfLife } from "./protocol.js";
import type { RemoteWorkers } from "./remote-workers.js";

export interface WorkerDoorOptions {
  readonly workers: RemoteWorkers;
  readonly gateway: Pick<Gateway, "namespaceOf">;
  readonly sessions: Pick<SessionStore, "namespaceOf">;
  readonly namespaces: Pick<NamespaceStore, "find">;
}

/** The worker protocol for callers of a namespace: whoever names a session of another is answered as if there were none. */
export class WorkerDoor {
  readonly #options: WorkerDoorOptions;

  constructor(options: WorkerDoorOptions) {
    this.#options = options;
  }

  get silenceMs(): number {
    return this.#options.workers.silenceMs;
  }

  register(worker: RemoteRegistration): Promise<string> {
    return this.#options.workers.register(worker);
  }

  async poll(namespace: string, id: string, request: PollRequest): Promise<PollAnswer> {
    await this.#admit(namespace, id);
    return this.#options.workers.poll(id, request);
  }

  async hear(namespace: string, id: string, sign: SignOfLife): Promise<readonly ClaimName[]> {
    await this.#admit(namespace, id);
    return this.#options.workers.hear(id, sign);
  }

  async note(namespace: string, id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    await this.#admit(namespace, id);
    return this.#options.workers.note(id, notes);
  }

  async giveBack(namespace: string, id: string, runs: readonly ClaimName[]): Promise<void> {
    await this.#admit(namespace, id);
    return this.#options.workers.giveBack(id, runs);
  }

  /** One that is gone already is not missed. */
  async close(namespace: string, id: string): Promise<void> {
    if (await this.#isOf(namespace, id)) await this.#options.workers.close(id);
  }

  /** Nobody waits here any more. */
  stop(): void {
    this.#options.workers.stop();
  }

  async #admit(namespace: string, id: string): Promise<void> {
    if (!(await this.#isOf(namespace, id))) throw new SessionLost(id);
  }

  async #isOf(namespace: string, id: string): Promise<boolean> {
    const { gateway, sessions, namespaces } = this.#options;
    const asked = await namespaces.find(namespace);
    // A session never changes its namespace: what this node knows of it is enough.
    const owner = gateway.namespaceOf(id) ?? (await sessions.namespaceOf(id));
    return asked !== null && asked === owner;
  }
}
