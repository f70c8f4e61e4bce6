import { present } from "@carillon/core";
import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import { Flag, object, readPayload } from "../fields.js";
import { bodyErrors, changeErrors, type Operation, unversionedVerb } from "../operation.js";
import { Run, RunRef } from "./run.js";

export const RunRepeat = object(
  "RunRepeat",
  {
    payload: Type.Optional(Type.Unknown({ description: "Replaces the payload of the run; null is a payload" })),
    force: Flag("Ignores the overlap policy of the job"),
  },
  { examples: [{}] },
);
export type RunRepeat = Static<typeof RunRepeat>;

export const RunRetried = object("RunRetried", {
  ...Run.properties,
  is_new: Type.Boolean({ description: "Whether this call created the run; false if it had been retried before" }),
});
export type RunRetried = Static<typeof RunRetried>;

const repeatErrors = [
  ...bodyErrors,
  "address_refused",
  "overlap_refused",
  "run_live",
  "run_not_repeatable",
  ...changeErrors,
] as const satisfies Operation["errors"];

const writes = {
  method: "POST",
  tag: "Dead letters",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
} as const;

export const retryRun = {
  ...writes,
  ...unversionedVerb("/v1/runs/{id}:retry", [{ path: "/v1/dead-letters/{id}:redrive" }]),
  client: "runs.retry",
  summary: "Retry a failed run",
  description:
    "Creates a run with its own id and with the nominal time, payload, queue, priority and labels of the failed run, under " +
    "the present policies of its job; its trigger names the failed run. A run is retried only once: another call returns " +
    "the same new run. The overlap policy applies unless force is set.",
  body: RunRepeat,
  bodyOptional: true,
  answers: {
    200: { description: "The run that an earlier call created", schema: RunRetried },
    201: { description: "The new run", schema: RunRetried, headers: { Location: "The address of the run" } },
  },
  errors: [...repeatErrors, "run_not_failed"],
} as const satisfies Operation;

export const replayRun = {
  ...writes,
  ...unversionedVerb("/v1/runs/{id}:replay"),
  client: "runs.replay",
  summary: "Replay a run that has ended",
  description: "Every call creates another run, however the first one ended. Otherwise it works like a retry.",
  body: RunRepeat,
  bodyOptional: true,
  answers: { 201: { description: "The new run", schema: Run, headers: { Location: "The address of the run" } } },
  errors: repeatErrors,
} as const satisfies Operation;

export type RunRepeatRequest = ReturnType<typeof readRunRepeat>;

export function readRunRepeat(body: unknown) {
  return readBody(RunRepeat, body, ({ force, ...given }) => ({ ...readPayload(given), ...present({ force }) }));
}
