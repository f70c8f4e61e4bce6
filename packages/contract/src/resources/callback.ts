import type { CallbackAnswer } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, workerLimits } from "../bounds.js";
import { readBody } from "../check/read-body.js";
import { DurationText, Flag, object, readDuration, stringEnum } from "../fields.js";
import { bodyErrors, type Operation, storeErrors } from "../operation.js";
import { without } from "../rules.js";

const CallbackBody = object(
  "CallbackBody",
  {
    status: Type.Optional(
      stringEnum(["succeeded", "failed"], { description: "How the work ended; succeeded by default" }),
    ),
    output: Type.Optional(Type.Unknown({ description: "For a success: the output of the run, any JSON value" })),
    error: Type.Optional(
      object("CallbackError", {
        type: Type.Optional(Type.String({ minLength: 1, maxLength: limits.nameLength })),
        message: Type.String({ maxLength: workerLimits.errorLength }),
        retryable: Flag("Whether another attempt may help; true by default"),
      }),
    ),
    retry_after: Type.Optional(DurationText("For a failure: no attempt before this time.", "30s")),
  },
  {
    description: "How the work of a run ended",
    examples: [{ status: "succeeded", output: { invoice: 17 } }],
    allOf: [
      {
        if: { properties: { status: { enum: ["failed"] } }, required: ["status"] },
        // oxlint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
        then: without(["output"]),
        else: without(["error", "retry_after"]),
      },
    ],
  },
);
type CallbackBody = Static<typeof CallbackBody>;

export const answerCallback = {
  method: "POST",
  path: "/v1/callbacks/{token}",
  tag: "Callbacks",
  summary: "Complete a run that waits for a callback",
  description:
    "The token is the permission for one such call. The caller reports how the work ended; the run then ends or is retried, " +
    "as if its handler had reported it. A callback may arrive before the worker has reported that the run waits.",
  permission: "token",
  rateClass: "write",
  params: Type.Object({ token: Type.String({ description: "The token that the handler got" }) }),
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
