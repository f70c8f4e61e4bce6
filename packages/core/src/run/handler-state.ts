import type { DurationMs, Instant } from "../time/instant.js";

export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** A log line of a handler. */
export interface LogLine {
  /** From 1 within the attempt, so that a line that is sent twice is shown once. */
  readonly number: number;
  readonly level: LogLevel;
  readonly message: string;
  /** An object as JSON, or nothing. */
  readonly fieldsJson: string | null;
  /** The time from writing the line to sending it: durations are comparable between hosts, wall clocks are not. */
  readonly agoMs: DurationMs;
}

/** An operation on the state of a running handler. Values are JSON text, which is not parsed on the way. */
export type NoteContent =
  /** The point from which a later attempt continues. `number` grows within the attempt: an older one never replaces a newer one. */
  | { readonly kind: "checkpoint"; readonly number: number; readonly valueJson: string }
  | { readonly kind: "checkpoint_load" }
  | {
      readonly kind: "progress";
      readonly number: number;
      /** From 0 to 1. */
      readonly fraction: number;
      readonly text: string | null;
    }
  | { readonly kind: "log"; readonly lines: readonly LogLine[] }
  | { readonly kind: "step"; readonly name: string; readonly valueJson: string }
  | { readonly kind: "step_load"; readonly name: string }
  /** The answer is the value if it is known, busy while another run computes it, else done: this run must compute it. */
  | { readonly kind: "once_begin"; readonly key: string; readonly keepMs: DurationMs }
  | { readonly kind: "once_end"; readonly key: string; readonly valueJson: string }
  /** Reads the latest run of the job that succeeded before this one. */
  | { readonly kind: "last_success" }
  /** Reads the list of upstream runs whose end triggered this one. */
  | { readonly kind: "upstream" }
  /**
   * Registers a callback token by its hash (SHA-256, hexadecimal): its bearer may end the run. The answer is the unused callback
   * for an earlier claim of the same attempt, if one arrived.
   */
  | { readonly kind: "callback"; readonly tokenHash: string }
  /** Checks whether the claim is still valid. */
  | { readonly kind: "heartbeat" };

/** An operation with the claim under which it is made. */
export type RunNote = NoteContent & { readonly runId: string; readonly fence: number };

export type NoteAnswer =
  /** A write is durable; a read found nothing. */
  | { readonly kind: "done" }
  | { readonly kind: "value"; readonly valueJson: string; readonly at: Instant }
  /** Another run is computing the value. */
  | { readonly kind: "busy" }
  /** The claim is not valid any more; nothing was written. */
  | { readonly kind: "lost" }
  /** The operation is invalid; a retry is useless. */
  | { readonly kind: "refused"; readonly message: string };

/** Bounds of handler state. */
export const noteLimits = {
  /** Size of a checkpoint, or of the result of a step or a once, as JSON. */
  valueBytes: 262_144,
  /** Length of step names and once keys. */
  nameLength: 200,
  /** Steps of one attempt. */
  steps: 1_000,
  progressTextLength: 500,
  /** Size of a log line with its fields; longer lines are cut. */
  logLineBytes: 8_192,
  /** Log lines of one attempt; a last line states how many were dropped. */
  logLines: 10_000,
  logBytes: 1_048_576,
  /** How long the result of a once is kept: the default and the maximum. */
  onceKeepMs: 7 * 86_400_000,
  maxOnceKeepMs: 366 * 86_400_000,
} as const;
