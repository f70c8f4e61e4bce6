import {
  type HeldRun,
  type WorkerStateAnswer,
  readHeartbeat,
  readStateRequests,
  readPoll,
  readRegistration,
  readRelease,
  workerLimits,
} from "@carillon/contract";
import { type Completion, type NoteAnswer, formatId } from "@carillon/core";
import type { Assigned, ClaimName, PollAnswer } from "@carillon/engine";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { idOrNotFound } from "./http/request.js";

/** Heartbeats of a worker within worker_timeout. */
const heartbeatsPerTimeout = 5;
/** Heartbeats of a worker without runs: the engine renews its session for two thirds of the timeout after each request. */
const idleHeartbeatsPerTimeout = 2;
const jsonType = "application/json; charset=utf-8";

export function workerProtocolHandlers({ workers, refuseTarget }: ApiOptions) {
  return handlers({
    async registerWorker({ body: registration, namespace }) {
      const { spot: isSpot = false, ...worker } = readRegistration(registration, refuseTarget);
      const id = await workers.register({ ...worker, isSpot, namespace });
      const { timeoutMs } = workers;
      const body = {
        id: formatId("wrk", id),
        heartbeat_ms: Math.round(timeoutMs / heartbeatsPerTimeout),
        idle_heartbeat_ms: Math.round(timeoutMs / idleHeartbeatsPerTimeout),
        timeout_ms: timeoutMs,
        poll_ms: workerLimits.pollMs,
      };
      return { status: 201, body };
    },
    async pollWorker({ params, body, signal, namespace }) {
      const id = idOrNotFound("wrk", params.id);
      const request = readPoll(body);
      const answer = await workers.poll(namespace, id, signal === undefined ? request : { ...request, signal });
      return { status: 200, body: toPollJson(request.completions, answer), contentType: jsonType };
    },
    async heartbeatWorker({ params, body, namespace }) {
      const lost = await workers.heartbeat(namespace, idOrNotFound("wrk", params.id), readHeartbeat(body));
      return ok({ lost: lost.map(toClaimJson) });
    },
    async exchangeState({ params, body, namespace }) {
      const answers = await workers.note(namespace, idOrNotFound("wrk", params.id), readStateRequests(body));
      return ok({ answers: answers.map(toNoteAnswerJson) });
    },
    async releaseRuns({ params, body, namespace }) {
      await workers.giveBack(namespace, idOrNotFound("wrk", params.id), readRelease(body));
      return { status: 204 };
    },
    async closeWorker({ params, namespace }) {
      await workers.close(namespace, idOrNotFound("wrk", params.id));
      return { status: 204 };
    },
  });
}

/** The response to a poll as text: payloads are sent as they are stored, without being parsed. */
function toPollJson(completions: readonly Completion[], answer: PollAnswer): string {
  const { assignments, accepted, stops, lost, isToDrain, isToLeave } = answer;
  const refused =
    accepted.size >= completions.length
      ? []
      : completions.filter(({ runId }) => !accepted.has(runId)).map(({ runId }) => runId);
  const stopRequests = stops.map(({ runId, fence, reason }) => ({ run_id: runId, fence, reason }));
  return (
    `{"runs":[${assignments.map(toAssignmentJson).join(",")}],"refused":${JSON.stringify(refused)},` +
    `"stops":${JSON.stringify(stopRequests)},"lost":${JSON.stringify(lost.map(toClaimJson))},"drain":${isToDrain},"leave":${isToLeave}}`
  );
}

function toClaimJson({ runId, fence }: ClaimName): HeldRun {
  return { run_id: runId, fence };
}

function toNoteAnswerJson(answer: NoteAnswer): WorkerStateAnswer["answers"][number] {
  if (answer.kind !== "value") return answer;
  const { kind, valueJson, at } = answer;
  return { kind, value_json: valueJson, at };
}

function toAssignmentJson(run: Assigned): string {
  const { runId, jobId, timeoutMs } = run;
  const trace = run.traceparent === undefined ? "" : toTraceJson(run.traceparent, run.tracestate);
  const namespace = run.namespace === undefined ? "" : `"namespace":"${run.namespace}",`;
  const job = jobId === null ? "null" : `"${jobId}"`;
  return (
    `{"run_id":"${runId}","job_id":${job},${namespace}"task":${JSON.stringify(run.task)},"queue":${JSON.stringify(run.queue)},` +
    `"attempt":${run.attempt},"max_attempts":${run.maxAttempts},"at_most_once":${run.atMostOnce},"fence":${run.fence},` +
    `"timeout_ms":${timeoutMs ?? "null"},"scheduled_for":${run.scheduledFor},"run_at":${run.runAt},${trace}"payload":${run.payloadJson}}`
  );
}

function toTraceJson(traceparent: string, tracestate: string | undefined): string {
  const state = tracestate === undefined ? "" : `"tracestate":${JSON.stringify(tracestate)},`;
  return `"traceparent":${JSON.stringify(traceparent)},${state}`;
}
