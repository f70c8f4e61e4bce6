import { type CallbackAnswer, CarillonError, type DurationMs, parseDuration } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import { CallbackBody } from "../schema/callback.js";
import { readBody } from "./body.js";

/** What a callback says of its run. */
export function readCallback(body: unknown): CallbackAnswer {
  return readBody(CallbackBody, body, ({ status = "succeeded", output, error, retry_after: after }, findings) => {
    if (status === "succeeded") {
      if (error !== undefined) findings.add("/error", "field_invalid", "goes with status failed only");
      if (after !== undefined) findings.add("/retry_after", "field_invalid", "goes with status failed only");
      return { status, output: output ?? null };
    }
    if (output !== undefined) findings.add("/output", "field_invalid", "goes with status succeeded only");
    const {
      type = "CallbackFailed",
      message = "the callback says that the work failed",
      retryable = true,
    } = error ?? {};
    const retryAfterMs = waitOf(after, findings);
    return { status, error: { type, message, retryable }, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  });
}

function waitOf(text: string | undefined, findings: Findings): DurationMs | undefined {
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof CarillonError)) throw error;
    findings.add("/retry_after", "duration_invalid", error.message);
    return undefined;
  }
}
