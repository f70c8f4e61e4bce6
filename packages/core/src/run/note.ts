import type { DurationMs, Instant } from "../time/instant.js";

export const logLevels = ["debug", "info", "warn", "error"] as const;

export type LogLevel = (typeof logLevels)[number];

/** One line that a handler wrote. */
export interface LogLine {
  /** From 1 within the attempt: a line that is sent twice is shown once. */
  readonly number: number;
  readonly level: LogLevel;
  readonly message: string;
  /** An object as JSON, or nothing. */
  readonly fieldsJson: string | null;
  /** How long before it was sent it was written: durations travel, wall clocks do not. */
  readonly agoMs: DurationMs;
}

/** What a handler leaves with the engine while it runs, or asks of it. Values travel as JSON text that nobody on the way reads. */
export type NoteContent =
  /** Where to go on after a failure or a loss. `number` grows within the attempt: an older one never replaces a newer one. */
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
  /** Answered with the value if it is known, with busy while another run is at it, else with done: go ahead. */
  | { readonly kind: "once_begin"; readonly key: string; readonly keepMs: DurationMs }
  | { readonly kind: "once_end"; readonly key: string; readonly valueJson: string }
  /** The last run of the job that succeeded before this one. */
  | { readonly kind: "last_success" }
  /** The runs whose ends started this one, as a list. */
  | { readonly kind: "upstream" }
  /**
   * Whoever has the token of this hash (SHA-256, in hexadecimal) may end the run. Answered with what came for an earlier claim of
   * the same try and was not used, if anything did.
   */
  | { readonly kind: "callback"; readonly tokenHash: string }
  /** Asks whether the claim still holds. */
  | { readonly kind: "alive" };

/** A note, with the claim under which it is made. */
export type RunNote = NoteContent & { readonly runId: string; readonly fence: number };

export type NoteAnswer =
  /** Durable if it was to be kept; nothing there if something was asked for. */
  | { readonly kind: "done" }
  | { readonly kind: "value"; readonly valueJson: string; readonly at: Instant }
  /** Another run is at it. */
  | { readonly kind: "busy" }
  /** The run is somebody else's by now: nothing was written. */
  | { readonly kind: "lost" }
  /** It cannot be kept, however often it is sent. */
  | { readonly kind: "refused"; readonly message: string };

/** Bounds on what handlers leave behind. */
export const noteLimits = {
  /** A checkpoint, or the result of a step or of a once, as JSON. */
  valueBytes: 262_144,
  /** Names of steps, keys of onces. */
  nameLength: 200,
  /** Steps that one attempt may name. */
  steps: 1_000,
  progressTextLength: 500,
  /** A line of log with its fields; what is longer is cut. */
  logLineBytes: 8_192,
  /** What one attempt may log; a last line says what was left out. */
  logLines: 10_000,
  logBytes: 1_048_576,
  /** How long the result of a once is kept when nothing is said, and at most. */
  onceKeepMs: 7 * 86_400_000,
  longestOnceKeepMs: 366 * 86_400_000,
} as const;
