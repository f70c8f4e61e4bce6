import { CarillonError, type NoteAnswer, type RunNote } from "@carillon/core";
import type { ClaimName, Page, PollAnswer, PollRequest, TaskView, WorkerView } from "@carillon/engine";
import type { WorkersPort } from "../../../src/api/http/handler.js";
import { type Port, uuid } from "./fake-state.js";

/** Sessions in memory, which get no runs. */
export class FakeWorkerApi implements WorkersPort {
  readonly timeoutMs = 15_000;
  readonly #sessions = new Set<string>();
  #registered = 0;

  async register(): Promise<string> {
    const id = uuid(++this.#registered);
    this.#sessions.add(id);
    return id;
  }

  async poll(_namespace: string, id: string, { completions }: PollRequest): Promise<PollAnswer> {
    this.#requireSession(id);
    const accepted = new Set(completions.map(({ runId }) => runId));
    return { assignments: [], accepted, stops: [], lost: [], isToDrain: false, isToLeave: false };
  }

  async heartbeat(_namespace: string, id: string): Promise<readonly ClaimName[]> {
    this.#requireSession(id);
    return [];
  }

  async note(_namespace: string, id: string, notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    this.#requireSession(id);
    return notes.map(() => ({ kind: "done" }));
  }

  async giveBack(_namespace: string, id: string): Promise<void> {
    this.#requireSession(id);
  }

  async close(_namespace: string, id: string): Promise<void> {
    this.#sessions.delete(id);
  }

  #requireSession(id: string): void {
    if (!this.#sessions.has(id)) throw new CarillonError("session_lost", `no session ${id}`);
  }
}

/** No worker is connected, yet every task counts as served. */
export class FakeWorkers implements Port<"workers"> {
  async list(): Promise<Page<WorkerView>> {
    return { rows: [], next: null };
  }

  async get(): Promise<null> {
    return null;
  }

  async requestState(): Promise<null> {
    return null;
  }

  async whyUnserved(): Promise<null> {
    return null;
  }
}

/** No task is known. */
export class FakeTasks implements Port<"tasks"> {
  async list(): Promise<Page<TaskView>> {
    return { rows: [], next: null };
  }

  async get(): Promise<null> {
    return null;
  }

  defaultsOf(): null {
    return null;
  }
}
