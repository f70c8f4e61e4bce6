import type { HeldRun, WorkerNoted } from "@carillon/contract";
import type { Completion, NoteAnswer } from "@carillon/core";
import type { Assigned, ClaimName, PollAnswer } from "@carillon/engine";

/** The answer to a poll as text: payloads go out as they are stored, without being read. */
export function polledJson(completions: readonly Completion[], answer: PollAnswer): string {
  const { assignments, accepted, stops, lost, isToDrain, isToLeave } = answer;
  const refused =
    accepted.size >= completions.length ? [] : completions.filter(({ runId }) => !accepted.has(runId)).map(idOf);
  const orders = stops.map(({ runId, fence, reason }) => ({ run_id: runId, fence, reason }));
  return (
    `{"runs":[${assignments.map(assignedJson).join(",")}],"refused":${JSON.stringify(refused)},` +
    `"stops":${JSON.stringify(orders)},"lost":${JSON.stringify(lost.map(wireClaim))},"drain":${isToDrain},"leave":${isToLeave}}`
  );
}

export function wireClaim({ runId, fence }: ClaimName): HeldRun {
  return { run_id: runId, fence };
}

export function wireNoteAnswer(answer: NoteAnswer): WorkerNoted["answers"][number] {
  if (answer.kind !== "value") return answer;
  const { kind, valueJson, at } = answer;
  return { kind, value_json: valueJson, at };
}

const idOf = ({ runId }: Completion): string => runId;

function assignedJson(run: Assigned): string {
  const { runId, jobId, timeoutMs } = run;
  const trace = run.traceparent === undefined ? "" : traceJson(run.traceparent, run.tracestate);
  const job = jobId === null ? "null" : `"${jobId}"`;
  return (
    `{"run_id":"${runId}","job_id":${job},"task":${JSON.stringify(run.task)},"queue":${JSON.stringify(run.queue)},` +
    `"attempt":${run.attempt},"max_attempts":${run.maxAttempts},"at_most_once":${run.atMostOnce},"fence":${run.fence},` +
    `"timeout_ms":${timeoutMs ?? "null"},"scheduled_for":${run.scheduledFor},"run_at":${run.runAt},${trace}"payload":${run.payloadJson}}`
  );
}

function traceJson(traceparent: string, tracestate: string | undefined): string {
  const state = tracestate === undefined ? "" : `"tracestate":${JSON.stringify(tracestate)},`;
  return `"traceparent":${JSON.stringify(traceparent)},${state}`;
}
