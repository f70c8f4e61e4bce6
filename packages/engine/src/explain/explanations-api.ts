import { CarillonError } from "@carillon/core";
import type { Explanations } from "./explanations.js";
import type { Jobs } from "../jobs/jobs.js";
import type { JobReader } from "../jobs/job-reader.js";
import type { RunReader } from "../runs/run-reader.js";
import { explainSchedule } from "./explain-schedule.js";
import type { RunExplainer } from "./run-explainer.js";
import type { JobRef } from "../requests.js";

export interface ExplanationsOptions {
  readonly runs: Pick<RunReader, "find">;
  readonly jobs: Pick<JobReader, "find">;
  readonly explainer: RunExplainer;
  readonly changes: Pick<Jobs, "countMissed" | "occurrences">;
  /** Whether a maintenance window holds what is due of a job. */
  readonly isHeld: (jobId: string) => Promise<boolean>;
  readonly within: <Result>(namespace: string, work: (id: number) => Promise<Result>) => Promise<Result>;
  /** The database's clock. */
  readonly now: () => number;
}

/** Entries of the ledger that an answer shows. */
const mostOutcomes = 5;

export function explanationsApi(options: ExplanationsOptions): Explanations {
  const { runs, jobs, explainer, changes, isHeld, within, now } = options;
  return {
    explainRun: (namespace, runId) =>
      within(namespace, async (id) => {
        const run = await runs.find(id, runId);
        return run === null ? null : { run, explanation: await explainer.explain({ id, name: namespace }, run, now()) };
      }),
    explain: (namespace, run) => within(namespace, (id) => explainer.explain({ id, name: namespace }, run, now())),
    explainJob: (namespace, ref) =>
      within(namespace, async (id) => {
        const job = await jobs.find(id, ref);
        if (job === null) throw notFound(ref);
        const { state, lastRun } = job;
        const missed = state === "paused" ? await changes.countMissed(namespace, { id: job.id }) : 0;
        const held = state === "active" && job.nextRunAt !== null && (await isHeld(job.id));
        const { rows } = await changes.occurrences(namespace, { id: job.id }, { pageSize: mostOutcomes });
        return {
          ...explainSchedule({ job, now: now(), missed, isHeld: held }),
          job,
          state,
          run: lastRun && {
            run: lastRun,
            explanation: await explainer.explain({ id, name: namespace }, lastRun, now()),
          },
          outcomes: rows,
        };
      }),
  };
}

function notFound(ref: JobRef): CarillonError {
  return new CarillonError("not_found", `there is no job ${"key" in ref ? JSON.stringify(ref.key) : ref.id}`);
}
