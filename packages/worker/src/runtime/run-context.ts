import type { Assignment, Instant } from "@carillon/core";
import type { StopSignal } from "./stop-signal.js";
import type { TaskContext } from "./task.js";

/** What a handler is given beside its payload. */
export class RunContext implements TaskContext {
  readonly runId: string;
  readonly jobId: string | null;
  readonly task: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly fence: number;
  readonly scheduledFor: Instant;
  readonly #stop: StopSignal;

  constructor(assignment: Assignment, stop: StopSignal) {
    this.runId = assignment.runId;
    this.jobId = assignment.jobId;
    this.task = assignment.task;
    this.queue = assignment.queue;
    this.attempt = assignment.attempt;
    this.maxAttempts = assignment.maxAttempts;
    this.fence = assignment.fence;
    this.scheduledFor = assignment.scheduledFor;
    this.#stop = stop;
  }

  get idempotencyKey(): string {
    return this.runId;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }
}
