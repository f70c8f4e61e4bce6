import type { DurationMs } from "@carillon/core";
import type { WorkerEvent } from "../runtime/worker.js";

export interface StderrReporterOptions {
  readonly write: (line: string) => void;
  readonly monotonic: () => number;
}

/** Reports the failures of a worker as text, a few of each kind. Used when the user does not subscribe to events. */
export function stderrReporter({ write, monotonic }: StderrReporterOptions): (event: WorkerEvent) => void {
  const throttle = new LogThrottle(monotonic);
  return (event) => {
    const failure = describeFailure(event);
    const admitted = failure === null ? null : throttle.admit(failure.kind, failure.max);
    if (failure === null || admitted === null) return;
    const more = admitted.suppressed === 0 ? "" : ` (and ${admitted.suppressed} more like it before)`;
    const stack = failure.stack === undefined ? "" : `\n${failure.stack.replace(/^/gm, "    ")}`;
    write(`carillon: ${failure.text}${more}${stack}`);
  };
}

interface FailureText {
  readonly kind: string;
  readonly text: string;
  readonly stack?: string | undefined;
  /** How many of its kind are printed in one period; left out: the default of the throttle. */
  readonly max?: number;
}

/** Null for an event that is not a failure. */
function describeFailure(event: WorkerEvent): FailureText | null {
  switch (event.type) {
    case "run.attempt_failed": {
      const { runId, task, attempt, maxAttempts, error } = event;
      const text = `attempt ${attempt} of ${maxAttempts} of ${task} failed (${runId}): ${error.type}: ${error.message}`;
      return { kind: `${task} ${error.type}`, text, stack: stackFrames(error.stack) };
    }
    case "worker.transport_failed": {
      const reason = event.error instanceof Error ? event.error.message : String(event.error);
      return { kind: event.type, text: `the worker cannot reach its server and retries: ${reason}`, max: 1 };
    }
    case "worker.session_lost":
      return {
        kind: event.type,
        text: `the server declared the worker lost; it registers again, and ${event.running} of its runs go to others`,
      };
    case "run.signal_ignored":
      return {
        kind: event.type,
        text: `${event.task} still runs although its signal has fired (${event.reason}, ${event.runId})`,
      };
    default:
      return null;
  }
}

/** The lines of a stack below its message, which is printed already. */
function stackFrames(stack: string | undefined): string | undefined {
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line));
  return frames === undefined || frames.length === 0 ? undefined : frames.map((line) => line.trim()).join("\n");
}

const throttlePeriodMs: DurationMs = 10_000;
const defaultMaxPerPeriod = 5;
/** How many kinds are remembered; beyond that all counts start again. */
const maxKinds = 500;

interface KindCount {
  readonly since: number;
  count: number;
}

/** Limits repeated messages: admits five of each kind in ten seconds, and then reports how many were suppressed. */
export class LogThrottle {
  readonly #monotonic: () => number;
  readonly #counts = new Map<string, KindCount>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Null: suppress the message. Otherwise how many of its kind were suppressed since the last one that was admitted. */
  admit(kind: string, max = defaultMaxPerPeriod): { readonly suppressed: number } | null {
    const now = this.#monotonic();
    const known = this.#counts.get(kind);
    if (known !== undefined && now - known.since < throttlePeriodMs)
      return ++known.count <= max ? { suppressed: 0 } : null;
    if (this.#counts.size >= maxKinds) this.#counts.clear();
    this.#counts.set(kind, { since: now, count: 1 });
    return { suppressed: Math.max(0, (known?.count ?? 0) - max) };
  }
}
