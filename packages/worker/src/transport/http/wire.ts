import type { StateRequest, WorkerStateAnswer, WorkerPollAnswer } from "@carillon/client";
import type {
  Assignment,
  Completion,
  LogLine,
  NoteAnswer,
  Outcome,
  RunError,
  RunNote,
  StopOrder,
} from "@carillon/core";
import type { Registration } from "../../runtime/transport.js";

/** Identifies a claim: a run and the fence under which this worker holds it. */
export interface ClaimRef {
  readonly runId: string;
  readonly fence: number;
}

export interface PollAnswer {
  readonly runs: readonly Assignment[];
  readonly refused: readonly string[];
  readonly stops: readonly StopOrder[];
  readonly lost: readonly ClaimRef[];
  readonly mustDrain: boolean;
  /** The machine is reclaimed: drain at once, and give back the runs. */
  readonly mustLeave: boolean;
}

/** A server of an older version sends no `leave`. */
type Polled = Omit<WorkerPollAnswer, "leave"> & Partial<Pick<WorkerPollAnswer, "leave">>;

export function toPollAnswer({ runs, refused, stops, lost, drain, leave = false }: Polled): PollAnswer {
  return {
    runs: runs.map(toAssignment),
    refused,
    stops: stops.map(({ run_id: runId, fence, reason }) => ({ runId, fence, reason })),
    lost: lost.map(({ run_id: runId, fence }) => ({ runId, fence })),
    mustDrain: drain,
    mustLeave: leave,
  };
}

function toAssignment(run: WorkerPollAnswer["runs"][number]): Assignment {
  return {
    runId: run.run_id,
    jobId: run.job_id,
    namespace: run.namespace,
    task: run.task,
    queue: run.queue,
    payload: run.payload,
    attempt: run.attempt,
    maxAttempts: run.max_attempts,
    atMostOnce: run.at_most_once,
    fence: run.fence,
    timeoutMs: run.timeout_ms,
    scheduledFor: run.scheduled_for,
    runAt: run.run_at,
    traceparent: run.traceparent,
    tracestate: run.tracestate,
  };
}

/** Leaves out absent fields: a server of an older version may not know them. */
export function registrationJson({ isSpot, ...registration }: Registration): string {
  return JSON.stringify({ ...registration, ...(isSpot === true && { spot: true }) });
}

export function claimsJson(claims: Iterable<ClaimRef>): string {
  return `[${Array.from(claims, ({ runId, fence }) => `{"run_id":"${runId}","fence":${fence}}`).join(",")}]`;
}

/** The server would refuse a larger output together with all results of the request. */
const maxOutputLength = 8_388_608;

/** The output is inserted as the JSON text that the handler's result became; it is not parsed again. */
export function resultJson({ runId, fence, startedAgoMs, outcome }: Completion): string {
  const agoMs = Math.max(0, Math.round(startedAgoMs));
  return `{"run_id":"${runId}","fence":${fence},"started_ago_ms":${agoMs},${outcomeJson(outcome)}}`;
}

/** The failure to report for a run whose result the server refuses. */
export function toNotStorable(completion: Completion, message: string): Completion {
  const error = { type: "ResultNotStorable", message, retryable: false };
  return { ...completion, outcome: { kind: "failed", reason: "handler_error", error } };
}

function outcomeJson(outcome: Outcome): string {
  if (outcome.kind === "succeeded") {
    const { outputJson } = outcome;
    if (outputJson.length <= maxOutputLength) return `"outcome":"succeeded","output":${outputJson}`;
    const message = `the result cannot be stored: it has ${outputJson.length} characters, more than ${maxOutputLength}`;
    return failureJson("failed", { type: "ResultNotStorable", message, retryable: false });
  }
  if (outcome.kind === "snoozed") return `"outcome":"snoozed","delay_ms":${Math.round(outcome.delayMs)}`;
  if (outcome.kind === "waiting") return `"outcome":"waiting","wait_ms":${Math.round(outcome.waitMs)}`;
  if (outcome.kind === "cancelled")
    return outcome.error === null ? `"outcome":"cancelled"` : failureJson("cancelled", outcome.error);
  const after = outcome.retryAfterMs;
  const retry = after === undefined ? "" : `,"retry_after_ms":${Math.max(0, Math.round(after))}`;
  return failureJson(outcome.reason === "timeout" ? "timeout" : "failed", outcome.error) + retry;
}

const maxTypeLength = 200;
const maxTextLength = 16_384;

function failureJson(outcome: string, { type, message, stack, retryable }: RunError): string {
  const error = {
    type: toStorable(type, maxTypeLength),
    message: toStorable(message, maxTextLength),
    ...(stack !== undefined && { stack: toStorable(stack, maxTextLength) }),
    retryable,
  };
  return `"outcome":"${outcome}","error":${JSON.stringify(error)}`;
}

/** Cuts the text to what the server accepts, and replaces characters that PostgreSQL cannot store in a text. */
function toStorable(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replaceAll(/[\0\p{Surrogate}]/gu, "\ufffd");
}

export function stateJson(notes: readonly RunNote[]): string {
  return JSON.stringify({ requests: notes.map(toWireNote) });
}

export function toNoteAnswer(answer: WorkerStateAnswer["answers"][number]): NoteAnswer {
  const { kind, value_json: valueJson = "null", at = 0, message = "" } = answer;
  if (kind === "value") return { kind, valueJson, at };
  return kind === "refused" ? { kind, message } : { kind };
}

function toWireNote(note: RunNote): StateRequest {
  const claim = { run_id: note.runId, fence: note.fence };
  switch (note.kind) {
    case "checkpoint":
      return { ...claim, kind: note.kind, number: note.number, value_json: note.valueJson };
    case "progress": {
      const { kind, number, fraction, text } = note;
      return { ...claim, kind, number, fraction, ...(text !== null && { text }) };
    }
    case "log":
      return { ...claim, kind: note.kind, lines: note.lines.map(toWireLine) };
    case "step":
      return { ...claim, kind: note.kind, name: note.name, value_json: note.valueJson };
    case "step_load":
      return { ...claim, kind: note.kind, name: note.name };
    case "once_begin":
      return { ...claim, kind: note.kind, key: note.key, keep_ms: Math.round(note.keepMs) };
    case "once_end":
      return { ...claim, kind: note.kind, key: note.key, value_json: note.valueJson };
    case "callback":
      return { ...claim, kind: note.kind, token_hash: note.tokenHash };
    default:
      return { ...claim, kind: note.kind };
  }
}

function toWireLine({
  number,
  level,
  message,
  fieldsJson,
  agoMs,
}: LogLine): NonNullable<StateRequest["lines"]>[number] {
  const fields = fieldsJson === null ? {} : { fields_json: fieldsJson };
  return { number, level, message, ...fields, ago_ms: Math.max(0, Math.round(agoMs)) };
}
