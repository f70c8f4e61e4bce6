import { jobStates } from "@carillon/core";
import { Type, type Static } from "typebox";
import { OccurrenceList } from "./job-history.js";
import { Job } from "./job.js";
import { RunStatus } from "./run.js";
import { Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const answer = {
  detail: Type.String({ description: "The answer in one sentence, with its numbers" }),
  until: nullable(Type.Unsafe<string>({ ...Timestamp, description: "When that changes by itself, where it is known" })),
  facts: Type.Record(Type.String(), Type.Unknown(), { description: "The numbers and names of the sentence" }),
};

export const RunExplanation = Type.Object(
  {
    run_id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    status: RunStatus,
    code: Type.String({
      description:
        "ended, running, due_later, due_now, retry_later, overlap, queue_paused, limit_concurrency, limit_rate, limit_order, " +
        "limit_pending, breaker_open, position, no_worker_for_task, no_worker_for_queue, no_worker_for_version, no_worker_with_labels, " +
        "only_spot_workers, workers_cordoned",
    }),
    ...answer,
  },
  {
    title: "RunExplanation",
    additionalProperties: false,
    description: "Why a run does not run: the first thing that keeps it",
  },
);

export const JobExplanation = Type.Object(
  {
    job_id: Type.String({ examples: ["job_01k9zq3v5e0r8t2b7n4m6x1c9d"] }),
    state: stringEnum(jobStates),
    code: Type.String({
      description: "fires, fires_now, window, paused, completed, cancelled, manual, after, never",
    }),
    ...answer,
    next_run_at: nullable(Timestamp),
    upstream: Type.Optional(Type.Unsafe<NonNullable<Job["upstream"]>>(Job.properties.upstream)),
    run: nullable(RunExplanation),
    outcomes: Type.Unsafe<Static<typeof OccurrenceList>["occurrences"]>({
      ...OccurrenceList.properties.occurrences,
      description: "The newest entries of the ledger: occurrences without a run, and why",
    }),
    warnings: Type.Unsafe<NonNullable<Job["warnings"]>>({ ...Job.properties.warnings }),
  },
  { title: "JobExplanation", additionalProperties: false, description: "Whether a job fires, when, and if not, why" },
);

export type RunExplanation = Static<typeof RunExplanation>;
export type JobExplanation = Static<typeof JobExplanation>;
