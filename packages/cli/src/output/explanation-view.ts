import type { JobExplanation, RunExplanation } from "@carillon/contract";
import { stepsOfJob, stepsOfRun } from "./next-steps.js";
import { renderFields } from "./table.js";
import { worthSaying } from "./worth-saying.js";

type Field = readonly [name: string, value: unknown];

/** `because`: the runs that it waits for, each for the next. */
export function renderRunExplanation(explanation: RunExplanation, because: readonly RunExplanation[] = []): string {
  const { run_id, status, code, detail, until } = explanation;
  return renderFields([
    ["run", run_id],
    ["status", status],
    ["why", detail],
    ...because.map(chained),
    ["until", until],
    ["code", code],
    ...triedNext(stepsOfRun(because.at(-1) ?? explanation)),
  ]);
}

export function renderJobExplanation(explanation: JobExplanation, because: readonly RunExplanation[] = []): string {
  const { job_id, state, code, detail, next_run_at, run, outcomes, warnings } = explanation;
  const last = because.at(-1);
  return renderFields([
    ["job", job_id],
    ["state", state],
    ["why", detail],
    ["code", code],
    ["next run", next_run_at],
    ["newest run", run === null ? null : `${run.run_id}: ${run.detail}`],
    ...because.map(chained),
    ...outcomes.map((one): Field => [
      "left out",
      `${one.count} × ${one.reason}, ${one.from} to ${one.to}${one.detail === null ? "" : ` (${one.detail})`}`,
    ]),
    ...worthSaying(warnings).map((one): Field => ["warning", one.detail]),
    ...triedNext(stepsOfJob(last === undefined ? explanation : { ...explanation, run: last })),
  ]);
}

const chained = ({ run_id, detail }: RunExplanation): Field => ["and that", `${run_id}: ${detail}`];

const triedNext = (steps: readonly string[]): Field[] => steps.map((step): Field => ["try", step]);
