import { Type } from "typebox";
import { CallbackBody } from "../schema/callback.js";
import { bodyErrors } from "./job-errors.js";
import { storeErrors, type Operation } from "./operation.js";

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
