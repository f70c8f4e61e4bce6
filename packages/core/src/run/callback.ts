import type { Outcome, RunError } from "./assignment.js";
import type { DurationMs } from "../time/instant.js";

/** What a callback says of its run, as it is stored. */
export type CallbackAnswer =
  | { readonly status: "succeeded"; readonly output: unknown }
  | { readonly status: "failed"; readonly error: RunError; readonly retryAfterMs?: DurationMs };

/** The session of a run that waits for a callback: nobody's. */
export const nobodysSession = "00000000-0000-0000-0000-000000000000";

export function callbackOutcome(answer: CallbackAnswer): Outcome {
  if (answer.status === "succeeded") return { kind: "succeeded", outputJson: JSON.stringify(answer.output ?? null) };
  const { error, retryAfterMs } = answer;
  return { kind: "failed", reason: "handler_error", error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** What becomes of an attempt whose callback never came. */
export function noCallbackOutcome(waitedMs: DurationMs): Extract<Outcome, { kind: "failed" }> {
  const message = `no callback came within ${waitedMs} ms`;
  return { kind: "failed", reason: "timeout", error: { type: "CallbackTimeout", message, retryable: true } };
}
