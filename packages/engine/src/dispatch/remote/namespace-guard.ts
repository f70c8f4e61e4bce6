import type { DurationMs, NoteAnswer, RunNote } from "@carillon/core";
import type { NamespaceStore, SessionStore } from "@carillon/store";
import type { ServedSessions } from "../sessions/served-sessions.js";
import type { ClaimName } from "../sessions/worker-registration.js";
import { SessionLost } from "../sessions/worker-session.js";
import type { Heartbeat, PollAnswer, PollRequest, RemoteRegistration, RemoteWorkers } from "./remote-workers.js";

export interface NamespaceGuardContext {
  readonly store: {
    readonly sessions: Pick<SessionStore, "namespaceOf">;
    readonly namespaces: Pick<NamespaceStore, "find">;
  };
}

export interface NamespaceGuardDeps {
  readonly workers: RemoteWorkers;
  readonly sessions: Pick<ServedSessions, "find">;
}

/** The worker protocol for callers of a namespace: a session of another namespace is answered as if it did not exist. */
export class NamespaceGuard {
  readonly #context: NamespaceGuardContext;
  readonly #deps: NamespaceGuardDeps;

  constructor(context: NamespaceGuardContext, deps: NamespaceGuardDeps) {
    this.#context = context;
    this.#deps = deps;
  }

  get timeoutMs(): DurationMs {
    return this.#deps.workers.timeoutMs;
  }

  register(worker: RemoteRegistration): Promise<string> {
    return this.#deps.workers.register(worker);
  }

  async poll(namespace: string, id: string, request: PollRequest): Promise<PollAnswer> {
    await this.#admit(namespace, id);
    return this.#deps.workers.poll(id, request);
  }

  async heartbeat(namespace: string, id: string, heartbeat: Heartbeat): Promise<readonly ClaimName[]> {
    await this.#admit(namespace, id);
    return this.#deps.workers.heartbeat(id, heartbeat);
  }

  async note(namespace: string, id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    await this.#admit(namespace, id);
    return this.#deps.workers.note(id, notes);
  }

  async giveBack(namespace: string, id: string, runs: readonly ClaimName[]): Promise<void> {
    await this.#admit(namespace, id);
    return this.#deps.workers.giveBack(id, runs);
  }

  /** Closing a session that is gone already is no error. */
  async close(namespace: string, id: string): Promise<void> {
    if (await this.#isOf(namespace, id)) await this.#deps.workers.close(id);
  }

  /** Ends the polls that wait. */
  stop(): void {
    this.#deps.workers.stop();
  }

  async #admit(namespace: string, id: string): Promise<void> {
    if (!(await this.#isOf(namespace, id))) throw new SessionLost(id);
  }

  async #isOf(namespace: string, id: string): Promise<boolean> {
    const { sessions, namespaces } = this.#context.store;
    const asked = await namespaces.find(namespace);
    // A session never changes its namespace: if this node serves it, no read is needed.
    const owner = this.#deps.sessions.find(id)?.namespaceId ?? (await sessions.namespaceOf(id));
    return asked !== null && asked === owner;
  }
}
