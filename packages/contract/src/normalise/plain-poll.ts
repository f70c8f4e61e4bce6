import type { Static } from "typebox";
import { isObject } from "../check/check-value.js";
import { uuidPattern, workerLimits } from "../schema/limits.js";
import type { HeldRun, WorkerPoll, WorkerResult } from "../schema/worker-protocol.js";

type Poll = Static<typeof WorkerPoll>;

const uuid = new RegExp(uuidPattern);
const pollFields = new Set<string>(["number", "heard", "held", "results", "wait_ms", "draining"]);
const resultFields = new Set<string>(["run_id", "fence", "started_ago_ms", "outcome", "output"]);

/**
 * Whether a body is a poll of the form that nearly all have: only successes, nothing that is not known. Such a one is taken
 * without the general check, which would cost more than storing its results; any other goes there, and is judged there.
 * Outputs are not looked at: the store says what it cannot hold, and of which run.
 */
export function isPlainPoll(body: unknown): body is Poll {
  if (!isObject(body) || !Object.keys(body).every((name) => pollFields.has(name))) return false;
  const { number = 1, heard = 0, held = [], results = [], wait_ms: waitMs = 0, draining = false } = body;
  return (
    isWhole(number, 1) &&
    isWhole(heard, 0) &&
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
