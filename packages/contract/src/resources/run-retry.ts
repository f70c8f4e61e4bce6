import { type Static, Type } from "typebox";
import { readBody } from "../check/read-body.js";
import { verbAliases, bodyErrors, changeErrors, type Operation } from "../operation.js";
import { Run, RunRef } from "./run.js";
import { readPayload, present, object } from "../fields.js";

export const RunRepeat = object(
  "RunRepeat",
  {
    payload: Type.Optional(Type.Unknown({ description: "In place of the run's; null is a payload" })),
    force: Type.Optional(Type.Boolean({ description: "Whatever the job's overlap policy says" })),
  },
  { examples: [{}] },
);
export type RunRepeat = Static<typeof RunRepeat>;

export const RunRetried = object("RunRetried", {
  ...Run.properties,
  is_new: Type.Boolean({ description: "Whether this call made the run; false: it had been retried before" }),
});
export type RunRetried = Static<typeof RunRetried>;

const repeatErrors = [
  ...bodyErrors,
  "overlap_refused",
  "run_live",
  "run_not_repeatable",
  ...changeErrors,
] as const satisfies Operation["errors"];

export const retryRun = {
  method: "POST",
  path: "/v1/runs/{id}:retry",
  aliases: [...verbAliases("runs", "retry"), { path: "/v1/dead-letters/{id}:redrive" }],
  tag: "Dead letters",
  client: "runs.retry",
  summary: "Make a run in the place of one that failed",
  description:
    "The new run has an id of its own and the nominal time, payload, queue, priority and labels of the first, under the policies that " +
    "its job has now; its trigger names the first. A run is retried once: asked again, the answer is the same run. The overlap policy " +
    "is followed unless force is said.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  body: RunRepeat,
  bodyOptional: true,
  answers: {
    200: { description: "The run that had been made before", schema: RunRetried },
    201: { description: "The new run", schema: RunRetried, headers: { Location: "Where the run is" } },
  },
  errors: [...repeatErrors, "run_not_failed"],
} as const satisfies Operation;

export const replayRun = {
  method: "POST",
  path: "/v1/runs/{id}:replay",
  aliases: verbAliases("runs", "replay"),
  tag: "Dead letters",
  client: "runs.replay",
  summary: "Make another run like one that has ended",
  description: "Every call makes one, however the first ended. Otherwise as a retry.",
  permission: "runs:write",
  rateClass: "write",
  params: RunRef,
  body: RunRepeat,
  bodyOptional: true,
  answers: { 201: { description: "The new run", schema: Run, headers: { Location: "Where the run is" } } },
  errors: repeatErrors,
} as const satisfies Operation;

export type RunRepeatRequest = ReturnType<typeof readRunRepeat>;

export function readRunRepeat(body: unknown) {
  return readBody(RunRepeat, body, ({ force, ...given }) => ({ ...readPayload(given), ...present({ force }) }));
}
