import { CarillonError, type NoteAnswer, type RunNote } from "@carillon/core";
import type { Assigned, ClaimName, PollAnswer, PollRequest, RemoteRegistration, Heartbeat } from "@carillon/engine";
import type { WorkersPort } from "../../../src/api/http/handler.js";

/** Sessions in memory: returns the assignments of the test, and records its calls. */
export class FakeWorkers implements WorkersPort {
  readonly timeoutMs = 15_000;
  readonly registered = new Map<string, RemoteRegistration>();
  readonly polls: PollRequest[] = [];
  readonly givenBack: ClaimName[] = [];
  readonly signs: Heartbeat[] = [];
  readonly notes: RunNote[] = [];
  noteAnswer: NoteAnswer = { kind: "done" };
  assignments: Assigned[] = [];
  refused = new Set<string>();

  async register(worker: RemoteRegistration): Promise<string> {
    const id = `0190aaaa-0000-7000-8000-${String(this.registered.size + 1).padStart(12, "0")}`;
    this.registered.set(id, worker);
    return id;
  }

  async poll(_namespace: string, id: string, request: PollRequest): Promise<PollAnswer> {
    this.#find(id);
    this.polls.push(request);
    const accepted = request.completions.map(({ runId }) => runId).filter((runId) => !this.refused.has(runId));
    return {
      assignments: this.assignments.splice(0),
      accepted: new Set(accepted),
      stops: [],
      lost: [],
      isToDrain: false,
      isToLeave: false,
    };
  }

  async heartbeat(_namespace: string, id: string, sign: Heartbeat): Promise<readonly ClaimName[]> {
    this.#find(id);
    this.signs.push(sign);
    return [];
  }

  async note(_namespace: string, id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    this.#find(id);
    this.notes.push(...notes);
    return notes.map(() => this.noteAnswer);
  }

  async giveBack(_namespace: string, id: string, runs: readonly ClaimName[]): Promise<void> {
    this.#find(id);
    this.givenBack.push(...runs);
  }

  async close(_namespace: string, id: string): Promise<void> {
    this.registered.delete(id);
  }

  #find(id: string): void {
    if (!this.registered.has(id)) throw new CarillonError("session_lost", `no session ${id}`);
  }
}
