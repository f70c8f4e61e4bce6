import type { DurationMs, Instant } from "../time/instant.js";

/** What others were promised of a run, counted from its nominal time. A breach is told of, and changes nothing about the run. */
export interface Sla {
  /** Until a worker has it. */
  readonly startWithinMs?: DurationMs;
  /** Until it has succeeded or failed. */
  readonly finishWithinMs?: DurationMs;
}

export interface SlaTerms {
  readonly startBy: Instant | null;
  readonly finishBy: Instant | null;
}

/** What an SLA is about. `trigger` is that of the run, or its kind. */
export interface Promised {
  readonly sla: Sla | null | undefined;
  readonly trigger: string;
  readonly nominal: Instant;
}

/** They make up for the past: later than the time that they stand for, by their nature. */
const late: ReadonlySet<string> = new Set(["retry", "replay", "backfill"]);

/** By when a run is to start and to end; null: nothing was promised of it. Plain SQL can have stored anything: what is no time was not said. */
export function slaTermsOf({ sla, trigger, nominal }: Promised): SlaTerms | null {
  if (typeof sla !== "object" || sla === null || late.has(trigger.split(":", 1)[0] ?? "")) return null;
  const termOf = (ms: DurationMs | undefined): Instant | null =>
    Number.isSafeInteger(ms) ? nominal + (ms ?? 0) : null;
  return { startBy: termOf(sla.startWithinMs), finishBy: termOf(sla.finishWithinMs) };
}

/** How long after its term something was; null: it was in time, or there is no term. */
export function latenessOf(term: Instant | null | undefined, at: Instant): DurationMs | null {
  return term === null || term === undefined || at <= term ? null : at - term;
}
