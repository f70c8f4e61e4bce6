import type { DurationMs } from "@carillon/core";
import type { TaskDefinition, UpstreamRun } from "@carillon/worker";
import type { TestLine, TestProgress } from "./memory-notes.js";

export interface TestKitOptions {
  /** The tasks that runs call. */
  readonly tasks: readonly TaskDefinition<never, unknown>[];
  /** Where the clock stands; 2030-01-01T00:00:00Z by default. */
  readonly now?: Date;
  /** From 0 to 1, for the jitter of retries; always the middle by default, so that a test sees the same each time. */
  readonly random?: () => number;
  /** How long a handler may wait for something that is not the kit's clock, in real time; 5 s by default. */
  readonly patienceMs?: DurationMs;
}

export interface TestRunOptions {
  /** The runs that the handler is told to have been started by; what is not said of one is that it succeeded. */
  readonly upstream?: readonly Partial<UpstreamRun>[];
}

/** A run that has ended. */
export interface TestRun {
  readonly id: string;
  readonly task: string;
  readonly payload: unknown;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** Attempts that it took. */
  readonly attempts: number;
  readonly scheduledFor: Date;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly output: unknown;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly logs: readonly TestLine[];
  readonly progress: TestProgress | null;
}
