import { type Completion, isObject, type Outcome, type RunError } from "@carillon/core";
import { type Static, Type } from "typebox";
import { limits, uuidPattern, workerLimits } from "../bounds.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "../check/read-body.js";
import { Count, Flag, Milliseconds, nullable, object, stringEnum, Text, WholeNumber } from "../fields.js";
import { type Operation, singleAnswer } from "../operation.js";
import { ifOneOf } from "../rules.js";
import {
  AgoMs,
  claimName,
  Fence,
  HeldRun,
  HeldRuns,
  isThere,
  RunRef,
  RunUuid,
  runUuid,
  workerCall,
  workerCallErrors,
} from "./worker-protocol.js";
import { WorkerRef } from "./worker.js";

const FailedWith = object("FailedWith", {
  type: Type.String({ maxLength: limits.nameLength }),
  message: Type.String({ maxLength: workerLimits.errorLength }),
  stack: Type.Optional(Type.String({ maxLength: workerLimits.errorLength })),
  retryable: Type.Boolean(),
});

export const WorkerResult = object(
  "WorkerResult",
  {
    run_id: RunRef,
    fence: Fence,
    started_ago_ms: AgoMs("How long ago its handler was called"),
    outcome: stringEnum(["succeeded", "failed", "timeout", "cancelled", "snoozed", "waiting"]),
    output: Type.Optional(Type.Unknown({ description: "For a success: any JSON value" })),
    error: Type.Optional(FailedWith),
    retry_after_ms: Type.Optional(AgoMs("For a failure: no attempt before this time")),
    delay_ms: Type.Optional(AgoMs("For a snooze: the time after which the handler is called again")),
    wait_ms: Type.Optional(AgoMs("For a run that waits for a callback: the longest wait")),
  },
  {
    description: "How a run ended on a worker",
    allOf: [
      ifOneOf("outcome", ["snoozed"], { required: ["delay_ms"] }),
      ifOneOf("outcome", ["waiting"], { required: ["wait_ms"] }),
      ifOneOf("outcome", ["failed", "timeout"], { required: ["error"] }),
    ],
  },
);
export type WorkerResult = Static<typeof WorkerResult>;

export const WorkerPoll = object("WorkerPoll", {
  number: Type.Optional(
    WholeNumber(1, Number.MAX_SAFE_INTEGER, "Numbers the polls of a worker that has more than one in progress"),
  ),
  ended_up_to: Type.Optional(Count("All polls up to this number have ended; without `held` each of them was answered")),
  held: Type.Optional(
    HeldRuns("Every claim that it has. The server sends assigned runs again that are not named here"),
  ),
  results: Type.Optional(
    Type.Array(WorkerResult, { maxItems: workerLimits.runs, description: "Runs that ended since the last poll" }),
  ),
  wait_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: workerLimits.pollMs,
      default: workerLimits.pollMs,
      description: "How long to wait for runs. A poll with results is answered when they are stored",
    }),
  ),
  draining: Flag("The worker takes no more runs; those already assigned may still arrive"),
});
export type WorkerPoll = Static<typeof WorkerPoll>;

const Assigned = object("AssignedRun", {
  run_id: RunUuid,
  job_id: nullable(Text("The job's UUID")),
  namespace: Type.Optional(Text("The name of the run's namespace")),
  task: Type.String(),
  queue: Type.String(),
  payload: Type.Unknown(),
  attempt: Type.Integer(),
  max_attempts: Type.Integer(),
  at_most_once: Type.Boolean({ description: "Once started, the run must not start again" }),
  fence: Fence,
  timeout_ms: nullable(Milliseconds("How long its handler may take")),
  scheduled_for: Type.Number({ description: "Milliseconds since 1970" }),
  run_at: Type.Number({ description: "Milliseconds since 1970" }),
  traceparent: Type.Optional(Text("The trace of the call that created the run, by W3C Trace Context")),
  tracestate: Type.Optional(Text("Vendor data of the trace")),
});

const Stop = object(
  "StopRequest",
  { run_id: RunUuid, fence: Fence, reason: Type.String() },
  { description: "A run that the worker must stop" },
);

export const WorkerPollAnswer = object("WorkerPollAnswer", {
  runs: Type.Array(Assigned, {
    description: "Runs to execute. The worker ignores a run that it has with the same fence",
  }),
  refused: Type.Array(RunUuid, { description: "Runs whose result was too late: another worker has them" }),
  stops: Type.Array(Stop),
  lost: Type.Array(HeldRun, { description: "Claims in the request that have ended" }),
  drain: Type.Boolean({
    description: "The worker must shut down: take no more runs, finish or give back those that it has, and close",
  }),
  leave: Type.Boolean({ description: "With drain: its machine shuts down, so it must give back its runs at once" }),
});
export type WorkerPollAnswer = Static<typeof WorkerPollAnswer>;

export const pollWorker = {
  ...workerCall,
  path: "/v1/workers/{id}:poll",
  summary: "Send results and receive runs",
  description:
    "Waits until there are runs or stop requests for the worker; a newer waiting poll ends the older one. A poll with results is " +
    "answered as soon as they are stored. A lost answer does no harm: the worker may send results again, and the server " +
    "sends runs again that did not arrive.",
  params: WorkerRef,
  body: WorkerPoll,
  bodyOptional: true,
  bodyBytes: workerLimits.pollBytes,
  waits: true,
  ...singleAnswer(WorkerPollAnswer, "Runs and stop requests for the worker", workerCallErrors),
} as const satisfies Operation;

export type PollBody = ReturnType<typeof pollOf>;

export function readPoll(body: unknown): PollBody {
  if (isPlainPoll(body)) return pollOf(body, (body.results ?? []).map(successOf));
  // Outputs are not checked here: a fault of one must not keep the other results of the poll from being stored.
  return readBody(WorkerPoll, withoutOutputs(body), (given, findings) => {
    const results = given.results ?? [];
    const outputs = outputsOf(body);
    const completions = results.map((result, index) =>
      completionOf(result, outputs[index], { pointer: `/results/${index}`, findings }),
    );
    return pollOf(given, completions.filter(isThere));
  });
}

function pollOf(given: Partial<WorkerPoll>, completions: readonly Completion[]) {
  const { number, ended_up_to: endedUpTo, held, wait_ms: waitMs = workerLimits.pollMs } = given;
  const { draining: isDraining = false } = given;
  return {
    ...(number !== undefined && { number }),
    ...(endedUpTo !== undefined && { endedUpTo }),
    ...(held !== undefined && { held: held.filter(isThere).map(claimName) }),
    completions,
    waitMs,
    isDraining,
  };
}

function withoutOutputs(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body["results"])) return body;
  const results = body["results"].map((result: unknown) => (isObject(result) ? omitOutput(result) : result));
  return { ...body, results };
}

function omitOutput(result: Record<string, unknown>): unknown {
  const { output: _, ...rest } = result;
  return rest;
}

function outputsOf(body: unknown): readonly unknown[] {
  const results: unknown = isObject(body) ? body["results"] : [];
  return Array.isArray(results) ? results.map((result: unknown) => (isObject(result) ? result["output"] : null)) : [];
}

interface Place {
  readonly pointer: string;
  readonly findings: Findings;
}

function successOf(result: WorkerResult): Completion {
  const { run_id: runId, fence, started_ago_ms: startedAgoMs, output } = result;
  return { runId, fence, startedAgoMs, outcome: succeeded(output) };
}

function completionOf(
  result: WorkerResult | undefined,
  output: unknown,
  { pointer, findings }: Place,
): Completion | undefined {
  if (result === undefined) return undefined;
  const { fence, started_ago_ms: startedAgoMs } = result;
  const runId = runUuid(result.run_id);
  const outcome = result.outcome === "succeeded" ? succeeded(output) : outcomeOf(result);
  if (typeof outcome !== "string") return { runId, fence, startedAgoMs, outcome };
  findings.add(`${pointer}/${outcome}`, "field_missing", `${outcome} is required with this outcome.`);
  return undefined;
}

function succeeded(output: unknown): Outcome {
  try {
    return { kind: "succeeded", outputJson: JSON.stringify(output ?? null) };
  } catch (cause) {
    // The value is nested too deeply for JSON.
    const message = `The result cannot be stored: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { kind: "failed", reason: "handler_error", error: { type: "ResultNotStorable", message, retryable: false } };
  }
}

/** The outcome, or the name of a missing field. */
function outcomeOf(result: WorkerResult): Outcome | string {
  const { outcome, error, retry_after_ms: retryAfterMs, delay_ms: delayMs, wait_ms: waitMs } = result;
  if (outcome === "snoozed") return delayMs === undefined ? "delay_ms" : { kind: "snoozed", delayMs };
  if (outcome === "waiting") return waitMs === undefined ? "wait_ms" : { kind: "waiting", waitMs };
  const runError: RunError | null = error === undefined ? null : { ...error };
  if (outcome === "cancelled") return { kind: "cancelled", error: runError };
  if (runError === null) return "error";
  const reason = outcome === "timeout" ? "timeout" : "handler_error";
  return { kind: "failed", reason, error: runError, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

type Poll = Static<typeof WorkerPoll>;

const uuid = new RegExp(uuidPattern);
const pollFields = new Set<string>(["number", "ended_up_to", "held", "results", "wait_ms", "draining"]);
const resultFields = new Set<string>(["run_id", "fence", "started_ago_ms", "outcome", "output"]);

/**
 * Whether a body is a poll of the usual form: only successes, no unknown fields. It skips the general check, which would cost more
 * than storing the results; any other body takes that check. Outputs are not checked: the store refuses one that it cannot hold, and
 * names its run.
 */
function isPlainPoll(body: unknown): body is Poll {
  if (!isObject(body) || !Object.keys(body).every((name) => pollFields.has(name))) return false;
  const { number = 1, ended_up_to: endedUpTo = 0, held = [], results = [], wait_ms: waitMs = 0 } = body;
  const { draining = false } = body;
  return (
    isWhole(number, 1) &&
    isWhole(endedUpTo, 0) &&
    isWhole(waitMs, 0, workerLimits.pollMs) &&
    typeof draining === "boolean" &&
    isList(held, isClaim) &&
    isList(results, isSuccess)
  );
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length <= workerLimits.runs && value.every(isItem);
}

function isClaim(value: unknown): value is HeldRun {
  return isObject(value) && namesClaim(value) && Object.keys(value).length === 2;
}

function isSuccess(value: unknown): value is WorkerResult {
  if (!isObject(value) || !namesClaim(value) || value["outcome"] !== "succeeded") return false;
  if (!isWhole(value["started_ago_ms"], 0, workerLimits.agoMs)) return false;
  for (const name in value) if (!resultFields.has(name)) return false;
  return true;
}

function namesClaim(value: Record<string, unknown>): boolean {
  const runId = value["run_id"];
  return typeof runId === "string" && uuid.test(runId) && isWhole(value["fence"], 0);
}

function isWhole(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}
