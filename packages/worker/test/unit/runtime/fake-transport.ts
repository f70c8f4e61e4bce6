import type { Assignment, Completion, NoteAnswer, RunNote } from "@carillon/core";
import type { Registration, StartedRun, Transport, TransportEvents } from "../../../src/index.js";

/** An engine in memory: assigns the runs that the test gives it, and records the calls of the worker. */
export class FakeTransport implements Transport {
  readonly registrations: Registration[] = [];
  readonly completions: Completion[] = [];
  readonly givenBack: string[] = [];
  readonly startedRuns: StartedRun[] = [];
  /** The notes of each call of `note`. */
  readonly noted: (readonly RunNote[])[] = [];
  readonly noteErrors: Error[] = [];
  answer: (note: RunNote) => NoteAnswer = () => ({ kind: "done" });
  isPaused = false;
  isClosed = false;
  /** Thrown by the next calls, in order. */
  readonly openErrors: Error[] = [];
  readonly completeErrors: Error[] = [];
  refuse = new Set<string>();
  #events: TransportEvents | null = null;
  #watchers: { holds: () => boolean; resolve: () => void }[] = [];

  /** Assigns runs as the engine would, without checking the slots of the worker. */
  assign(...assignments: Assignment[]): void {
    this.events.onAssign(assignments);
    this.#notify();
  }

  get events(): TransportEvents {
    if (this.#events === null) throw new Error("the worker is not registered");
    return this.#events;
  }

  /** Resolves when the condition holds; checks it after every call of the worker. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.push({ holds, resolve }));
  }

  open(registration: Registration, events: TransportEvents): Promise<void> {
    const error = this.openErrors.shift();
    if (error !== undefined) return Promise.reject(error);
    this.registrations.push(registration);
    this.#events = events;
    this.#notify();
    return Promise.resolve();
  }

  pause(): Promise<void> {
    this.isPaused = true;
    return Promise.resolve();
  }

  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const error = this.completeErrors.shift();
    if (error !== undefined) return Promise.reject(error);
    this.completions.push(...completions);
    this.#notify();
    return Promise.resolve(new Set(completions.map((one) => one.runId).filter((id) => !this.refuse.has(id))));
  }

  started(runs: readonly StartedRun[]): Promise<void> {
    this.startedRuns.push(...runs);
    return Promise.resolve();
  }

  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void> {
    this.givenBack.push(...runs.map((run) => run.runId));
    return Promise.resolve();
  }

  note(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
    const error = this.noteErrors.shift();
    if (error !== undefined) return Promise.reject(error);
    this.noted.push(notes);
    this.#notify();
    return Promise.resolve(notes.map((note) => this.answer(note)));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  isSessionLost(error: unknown): boolean {
    return error instanceof Error && error.message === "session lost";
  }

  #notify(): void {
    for (const watcher of this.#watchers) if (watcher.holds()) watcher.resolve();
    this.#watchers = this.#watchers.filter((watcher) => !watcher.holds());
  }
}

export function assignment(runId: string, over: Partial<Assignment> = {}): Assignment {
  const when = { scheduledFor: 0, runAt: 0 };
  return {
    runId,
    jobId: null,
    task: "work",
    queue: "default",
    payload: null,
    attempt: 1,
    maxAttempts: 5,
    atMostOnce: false,
    fence: 1,
    timeoutMs: null,
    ...when,
    ...over,
  };
}
