import { CarillonError } from "@carillon/core";
import type { EngineContext } from "../context.js";
import type { JobReader } from "../jobs/job-reader.js";
import type { Jobs } from "../jobs/jobs.js";
import type { JobRef } from "../requests.js";
import type { RunReader, RunView } from "../runs/run-reader.js";
import { type ExplainRunDeps, RunExplainer } from "./explain-run.js";
import { explainSchedule } from "./explain-schedule.js";
import type { JobExplanation, RunExplanation } from "./explanation.js";

type Context = Pick<EngineContext, "store" | "db" | "now" | "inNamespace">;

export interface ExplanationsDeps extends ExplainRunDeps {
  readonly runs: Pick<RunReader, "find">;
  readonly jobs: Pick<JobReader, "find">;
  readonly changes: Pick<Jobs, "countMissed" | "occurrences">;
}

/** Ledger entries in one answer. */
const maxOutcomes = 5;

/** Why a run does not run, and whether and why a job fires. */
export class Explanations {
  readonly #context: Context;
  readonly #deps: ExplanationsDeps;
  readonly #explainer: RunExplainer;

  constructor(context: Context, deps: ExplanationsDeps) {
    this.#context = context;
    this.#deps = deps;
    this.#explainer = new RunExplainer(context, deps);
  }

  /** null: there is no such run. */
  run(namespace: string, runId: string): Promise<{ run: RunView; explanation: RunExplanation } | null> {
    return this.#context.inNamespace(namespace, async (id) => {
      const run = await this.#deps.runs.find(id, runId);
      return run === null ? null : { run, explanation: await this.#explain({ id, name: namespace }, run) };
    });
  }

  /** Explains a run that the caller has read already. */
  runView(namespace: string, run: RunView): Promise<RunExplanation> {
    return this.#context.inNamespace(namespace, (id) => this.#explain({ id, name: namespace }, run));
  }

  /** Throws not_found. */
  job(namespace: string, ref: JobRef): Promise<JobExplanation> {
    const { jobs, changes } = this.#deps;
    return this.#context.inNamespace(namespace, async (id) => {
      const job = await jobs.find(id, ref);
      if (job === null) throw notFound(ref);
      const { state, lastRun } = job;
      const missed = state === "paused" ? await changes.countMissed(namespace, { id: job.id }) : 0;
      const isHeld = state === "active" && job.nextRunAt !== null && (await this.#isHeld(job.id));
      const { rows } = await changes.occurrences(namespace, { id: job.id }, { pageSize: maxOutcomes });
      return {
        ...explainSchedule({ job, now: this.#context.now(), missed, isHeld }),
        job,
        state,
        run: lastRun && { run: lastRun, explanation: await this.#explain({ id, name: namespace }, lastRun) },
        outcomes: rows,
      };
    });
  }

  #explain(namespace: { readonly id: number; readonly name: string }, run: RunView): Promise<RunExplanation> {
    return this.#explainer.explain(namespace, run, this.#context.now());
  }

  /** Whether a maintenance window holds the due occurrence of a job. */
  async #isHeld(jobId: string): Promise<boolean> {
    const { store, db } = this.#context;
    const [job] = await store.jobTransactionReads.read(db, [jobId], { payload: false });
    return job?.due.stateReason?.startsWith("held ") ?? false;
  }
}

function notFound(ref: JobRef): CarillonError {
  return new CarillonError("not_found", `There is no job ${"key" in ref ? JSON.stringify(ref.key) : ref.id}.`);
}
