import type { JobExplanation as WireJob, JobWarning, RunExplanation as WireRun } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { JobExplanation, RunExplanation, RunView } from "@carillon/engine";
import { wireOccurrences } from "./job-history.js";
import { wireNeighbours } from "./job.js";
import { timestampOrNull } from "../timestamp.js";

export function wireRunExplanation(run: RunView, { code, detail, until, facts }: RunExplanation): WireRun {
  return {
    run_id: formatId("run", run.id),
    status: run.status,
    code,
    detail,
    until: timestampOrNull(until),
    facts: { ...facts },
  };
}

export function wireJobExplanation(explanation: JobExplanation, warnings: JobWarning[]): WireJob {
  const { job, state, code, detail, until, facts, run, outcomes } = explanation;
  const { upstream } = wireNeighbours(job);
  return {
    job_id: formatId("job", job.id),
    state,
    code,
    detail,
    until: timestampOrNull(until),
    facts: { ...facts },
    next_run_at: timestampOrNull(job.nextRunAt),
    ...(upstream !== undefined && { upstream }),
    run: run && wireRunExplanation(run.run, run.explanation),
    outcomes: outcomes.map(wireOccurrences),
    warnings,
  };
}
