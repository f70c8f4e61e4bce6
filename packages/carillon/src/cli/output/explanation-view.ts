import type { JobExplanation, RunExplanation } from "@carillon/contract";
import { renderFields } from "./table.js";

export function renderRunExplanation({ run_id, status, code, detail, until }: RunExplanation): string {
  return renderFields([
    ["run", run_id],
    ["status", status],
    ["why", detail],
    ["until", until],
    ["code", code],
  ]);
}

export function renderJobExplanation(explanation: JobExplanation): string {
  const { job_id, state, code, detail, next_run_at, run, outcomes, warnings } = explanation;
  return renderFields([
    ["job", job_id],
    ["state", state],
    ["why", detail],
    ["code", code],
    ["next run", next_run_at],
    ["newest run", run === null ? null : `${run.run_id}: ${run.detail}`],
    ...outcomes.map((one): [string, string] => [
      "left out",
      `${one.count} × ${one.reason}, ${one.from} to ${one.to}${one.detail === null ? "" : ` (${one.detail})`}`,
    ]),
    ...warnings.map((one): [string, string] => ["warning", one.detail]),
  ]);
}
