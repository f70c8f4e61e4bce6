import type { Assignment, Completion } from "@carillon/core";
import type { PollRequest, Registration, Transport } from "../../../src/index.js";

/** An engine in memory: hands out what the test queues and remembers what it was told. */
export class FakeTransport implements Transport {
  readonly registrations: Registration[] = [];
  readonly completions: Completion[] = [];
  readonly givenBack: string[] = [];
  readonly polls: number[] = [];
  closed = false;
  /** Thrown by the next calls, in order. */
  readonly pollErrors: Error[] = [];
  readonly completeErrors: Error[] = [];
  refuse = new Set<string>();
  #queue: Assignment[] = [];
  #waiting: (() => void)[] = [];
  #watchers: { holds: () => boolean; resolve: () => void }[] = [];

  give(...assignments: Assignment[]): void {
    this.#queue.push(...assignments);
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when the condition holds; looked at after every call of the worker. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.push({ holds, resolve }));
  }

  open(registration: Registration): Promise<void> {
    this.registrations.push(registration);
    this.#look();
    return Promise.resolve();
  }

  async poll({ free, signal }: PollRequest): Promise<Assignment[]> {
    this.polls.push(free);
    this.#look();
    const error = this.pollErrors.shift();
    if (error !== undefined) throw error;
    if (this.#queue.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    return signal.aborted ? [] : this.#queue.splice(0, free);
  }

  complete(completions: readonly Completion[]): Promise<ReadonlySet<string>> {
    const error = this.completeErrors.shift();
    if (error !== undefined) return Promise.reject(error);
    this.completions.push(...completions);
    this.#look();
    return Promise.resolve(new Set(completions.map((one) => one.runId).filter((id) => !this.refuse.has(id))));
  }

  giveBack(runs: readonly { runId: string; fence: number }[]): Promise<void> {
    this.givenBack.push(...runs.map((run) => run.runId));
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  isSessionLost(error: unknown): boolean {
    return error instanceof Error && error.message === "session lost";
  }

  #look(): void {
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
    fence: 1,
    timeoutMs: null,
    ...when,
    ...over,
  };
}
