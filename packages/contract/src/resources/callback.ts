import type { CallbackAnswer } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, workerLimits } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import { DurationText, readDuration, stringEnum, object } from "../fields.js";
import { bodyErrors, type Operation, storeErrors } from "../operation.js";

const CallbackBody = object("CallbackBody", {
  status: Type.Optional(
    stringEnum(["succeeded", "failed"], { description: "How the work ended; succeeded when nothing is said" }),
  ),
  output: Type.Optional(Type.Unknown({ description: "Of a success: the run's output, any JSON" })),
  error: Type.Optional(
    object("CallbackError", {
      type: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameLength })),
      message: Type.String({ maxLength: workerLimits.errorLength }),
      retryable: Type.Optional(
        Type.Boolean({ description: "Whether another try may help; true when nothing is said" }),
      ),
    }),
  ),
  retry_after: Type.Optional(DurationText("Of a failure: no earlier try.", "30s")),
});
type CallbackBody = Static<typeof CallbackBody>;

export const answerCallback = {
  method: "POST",
  path: "/v1/callbacks/{token}",
  tag: "Callbacks",
  summary: "End a run that waits for a callback",
  description:
    "The token is the right to do so, once. Whoever was given it says how the work ended; the run then ends, or is tried again, as " +
    "if its handler had said so. A callback may come before the worker has said that the run waits.",
  permission: "token",
  rateClass: "write",
  params: Type.Object({ token: Type.String() }),
  body: CallbackBody,
  bodyOptional: true,
  answers: { 204: { description: "Recorded" } },
  errors: [...bodyErrors, "duration_invalid", "not_found", "callback_used", "callback_over", ...storeErrors],
} as const satisfies Operation;

/** How the work of a run ended, as its callback reports it. */
export function readCallback(body: unknown): CallbackAnswer {
  return readBody(CallbackBody, body, ({ status = "succeeded", output, error, retry_after: after }, findings) => {
    if (status === "succeeded") {
      if (error !== undefined)
        findings.add("/error", "field_invalid", "Only a callback with status failed may have it.");
      if (after !== undefined)
        findings.add("/retry_after", "field_invalid", "Only a callback with status failed may have it.");
      return { status, output: output ?? null };
    }
    if (output !== undefined)
      findings.add("/output", "field_invalid", "Only a callback with status succeeded may have it.");
    const {
      type = "CallbackFailed",
      message = "The callback reported that the work failed.",
      retryable = true,
    } = error ?? {};
    const retryAfterMs = readDuration(after, "/retry_after", findings);
    return { status, error: { type, message, retryable }, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  });
}
