import { type Assignment, type Outcome, shownId } from "@carillon/core";
import { beginSpan, isTraced, noSpan, type OpenSpan } from "../trace/span.js";

/** One attempt, in the trace of whoever asked for the run. */
export function beginRunSpan(assignment: Assignment): OpenSpan {
  const { task, traceparent, tracestate } = assignment;
  if (traceparent === undefined && !isTraced()) return noSpan;
  const span = beginSpan({ name: `run ${task}`, kind: "consumer", parent: { traceparent, tracestate } });
  if (span.isSeen) {
    span.note({
      "carillon.task": task,
      "carillon.queue": assignment.queue,
      "carillon.run.id": shownId("run", assignment.runId),
      "carillon.run.attempt": assignment.attempt,
      ...(assignment.jobId !== null && { "carillon.job.id": shownId("job", assignment.jobId) }),
    });
  }
  return span;
}

/** Only what failed is an error: a run that was cancelled or comes back later went as somebody wanted. */
export function endRunSpan(span: OpenSpan, outcome: Outcome): void {
  if (span.isSeen) span.note({ "carillon.run.outcome": outcome.kind });
  if (outcome.kind === "failed") span.fail(outcome.error);
  span.end();
}
