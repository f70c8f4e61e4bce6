import { type Completion, type Outcome, parseId, type RunError } from "@carillon/core";
import { workerLimits } from "../schema/limits.js";
import { WorkerDrain } from "../schema/worker.js";
import {
  type HeldRun,
  WorkerHeartbeat,
  WorkerPoll,
  WorkerRegister,
  WorkerRelease,
  type WorkerResult,
} from "../schema/worker-protocol.js";
import { isObject } from "../check/check-value.js";
import type { Findings } from "../check/findings.js";
import { readBody } from "./body.js";
import { isPlainPoll } from "./plain-poll.js";
import type { RefuseTarget } from "./end-callback.js";
import { checkDefaults } from "./task-defaults.js";

interface ClaimName {
  readonly runId: string;
  readonly fence: number;
}

export interface PollBody {
  readonly number?: number;
  readonly heard?: number;
  readonly held?: readonly ClaimName[];
  readonly completions: readonly Completion[];
  readonly waitMs: number;
  readonly isDraining: boolean;
}

export interface HeartbeatBody {
  readonly held: readonly ClaimName[];
  readonly started: readonly (ClaimName & { readonly agoMs: number })[];
}

export function readRegistration(body: unknown, refuse?: RefuseTarget): WorkerRegister {
  return readBody(WorkerRegister, body, (given, findings) => {
    const { name = "", namespaces, queues = [], tasks = [], slots = 1 } = given;
    const { ahead, labels, versions, weights, spot, defaults } = given;
    if (given.queues?.length === 0) findings.add("/queues", "field_invalid", "must name at least one queue");
    if (given.tasks?.length === 0) findings.add("/tasks", "field_invalid", "must name at least one task");
    if (queues.length > 1 && queues.includes("*"))
      findings.add("/queues", "field_invalid", "* stands for every queue: name no other beside it");
    refuseOtherTasks("/versions", versions, tasks, findings);
    refuseOtherTasks("/weights", weights, tasks, findings);
    refuseOtherTasks("/defaults", defaults, tasks, findings);
    for (const [task, one] of Object.entries(defaults ?? {}))
      findings.attempt(placeOf("/defaults", task), () => checkDefaults(one, refuse));
    if (namespaces?.length === 0) findings.add("/namespaces", "field_invalid", "must name at least one namespace");
    if (namespaces !== undefined && namespaces.length > 1 && namespaces.includes("*"))
      findings.add("/namespaces", "field_invalid", "* stands for every namespace: name no other beside it");
    return {
      name,
      queues,
      tasks,
      slots,
      ...(namespaces !== undefined && { namespaces }),
      ...(ahead !== undefined && { ahead }),
      ...(labels !== undefined && { labels }),
      ...(versions !== undefined && { versions }),
      ...(weights !== undefined && { weights }),
      ...(spot !== undefined && { spot }),
      ...(defaults !== undefined && { defaults }),
    };
  });
}

export function readWorkerDrain(body: unknown): { readonly isNotice: boolean } {
  return readBody(WorkerDrain, body, ({ notice = false }) => ({ isNotice: notice }));
}

function refuseOtherTasks(pointer: string, byTask: object = {}, tasks: readonly string[], findings: Findings): void {
  for (const task of Object.keys(byTask))
    if (!tasks.includes(task))
      findings.add(placeOf(pointer, task), "field_invalid", "is none of the tasks that the worker has");
}

function placeOf(pointer: string, task: string): string {
  return `${pointer}/${task.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function readPoll(body: unknown): PollBody {
  if (isPlainPoll(body)) return pollOf(body, (body.results ?? []).map(successOf));
  // The outputs are put aside: what is odd about one must not keep the other results of the poll from being stored.
  return readBody(WorkerPoll, withoutOutputs(body), (given, findings) => {
    const results = given.results ?? [];
    const outputs = outputsOf(body);
    const completions = results.map((result, index) =>
      completionOf(result, outputs[index], { pointer: `/results/${index}`, findings }),
    );
    return pollOf(given, completions.filter(isThere));
  });
}

function pollOf(given: Partial<WorkerPoll>, completions: readonly Completion[]): PollBody {
  const { number, heard, held, wait_ms: waitMs = workerLimits.pollMs, draining: isDraining = false } = given;
  return {
    ...(number !== undefined && { number }),
    ...(heard !== undefined && { heard }),
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

export function readHeartbeat(body: unknown): HeartbeatBody {
  return readBody(WorkerHeartbeat, body, ({ held = [], started = [] }) => ({
    held: held.filter(isThere).map(claimName),
    started: started.filter(isThere).map((run) => ({ ...claimName(run), agoMs: run.ago_ms })),
  }));
}

export function readRelease(body: unknown): readonly ClaimName[] {
  return readBody(WorkerRelease, body, ({ runs = [] }) => runs.filter(isThere).map(claimName));
}

/** A faulty item was recorded and left out. */
function isThere<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}

function claimName({ run_id: named, fence }: HeldRun): ClaimName {
  return { runId: runUuid(named), fence };
}

/** Nearly all are UUIDs already: those cost nothing. */
export function runUuid(named: string): string {
  return named.startsWith("run_") ? parseId("run", named) : named;
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
  findings.add(`${pointer}/${outcome}`, "field_missing", `${outcome} is required with this outcome`);
  return undefined;
}

function succeeded(output: unknown): Outcome {
  try {
    return { kind: "succeeded", outputJson: JSON.stringify(output ?? null) };
  } catch (cause) {
    // Nested deeper than can be written.
    const message = `the result cannot be stored: ${cause instanceof Error ? cause.message : String(cause)}`;
    return { kind: "failed", reason: "handler_error", error: { type: "ResultNotStorable", message, retryable: false } };
  }
}

/** The outcome, or the name of what it lacks. */
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
