import { Type, type Static } from "typebox";
import { limits } from "./limits.js";
import { NextPageToken, paging } from "./paging.js";
import { Problem } from "./problem.js";
import { Run } from "./run.js";
import { Count, InstantText, JobName, Timestamp } from "./scalars.js";
import { nullable, stringEnum } from "./string-enum.js";

const Word = (description: string) => Type.String({ minLength: 1, maxLength: limits.nameLength, description });

const filters = {
  task: Type.Optional(Word("Only of this task")),
  queue: Type.Optional(Word("Only in this queue")),
  job_id: Type.Optional(JobName("Only of this job: its id, or @ and its key")),
  fingerprint: Type.Optional(Word("Only with this kind of error")),
  failed_after: Type.Optional(InstantText("Only those that failed then or later")),
  failed_before: Type.Optional(InstantText("Only those that failed before then")),
};

export const DeadLetterQuery = Type.Object({ ...paging, ...filters }, { additionalProperties: false });

export const DeadLetterList = Type.Object(
  { dead_letters: Type.Array(Run), next_page_token: NextPageToken },
  { title: "DeadLetterList", additionalProperties: false },
);

export const DeadLetterAction = Type.Object(
  {
    filter: Type.Optional(
      Type.Object(filters, { additionalProperties: false, description: "All dead letters when it is left out" }),
    ),
    ...paging,
    dry_run: Type.Optional(Type.Boolean({ description: "Only says which ones it would be" })),
  },
  {
    title: "DeadLetterAction",
    additionalProperties: false,
    description: "One page of dead letters, newest first; go on with next_page_token until there is none",
    examples: [{ filter: { task: "email.welcome" }, page_size: 100 }],
  },
);

const DeadLetterResult = Type.Object(
  {
    id: Type.String({ description: "Of the dead letter" }),
    run_id: Type.Optional(Type.String({ description: "The run that takes its place" })),
    problem: Type.Optional(Type.Unsafe<Problem>({ ...Problem, description: "Why it stays as it is" })),
  },
  { title: "DeadLetterResult", additionalProperties: false },
);

export const DeadLetterActionDone = Type.Object(
  {
    results: Type.Array(DeadLetterResult, { description: "Newest first" }),
    done: Count("How many were retried or discarded"),
    refused: Count("How many stay as they are"),
    dry_run: Type.Boolean({ description: "Nothing was changed" }),
    next_page_token: NextPageToken,
  },
  { title: "DeadLetterActionDone", additionalProperties: false },
);

export const RunRepeat = Type.Object(
  {
    payload: Type.Optional(Type.Unknown({ description: "In place of the run's; null is a payload" })),
    force: Type.Optional(Type.Boolean({ description: "Whatever the job's overlap policy says" })),
  },
  { title: "RunRepeat", additionalProperties: false, examples: [{}] },
);

export const RunRetried = Type.Object(
  {
    ...Run.properties,
    is_new: Type.Boolean({ description: "Whether this call made the run; false: it had been retried before" }),
  },
  { title: "RunRetried", additionalProperties: false },
);

const Redrive = Type.Object(
  {
    kind: stringEnum(["retry", "replay", "discard"]),
    run_id: nullable(Type.String({ description: "The run that was made" })),
    actor: nullable(Type.String()),
    at: Timestamp,
  },
  { title: "Redrive", additionalProperties: false },
);

export const RunWithRedrives = Type.Object(
  {
    ...Run.properties,
    redrives: Type.Array(Redrive, { description: "What was done about it after its end, oldest first" }),
  },
  { title: "RunWithRedrives", additionalProperties: false },
);

export const ErrorGroupQuery = Type.Object({ ...paging, task: filters.task }, { additionalProperties: false });

export const ErrorGroup = Type.Object(
  {
    fingerprint: Type.String({ examples: ["9f86d081884c7d65"] }),
    type: Type.String({ examples: ["TypeError"] }),
    message: Type.String({ description: "Without what differs from one time to the next", examples: ["no user <n>"] }),
    tasks: Type.Array(Type.String()),
    count: Count("Failed tries; a node that is killed may take those of the last seconds with it"),
    first_seen_at: Timestamp,
    last_seen_at: Timestamp,
    sample_run_id: Type.String({ description: "A run that ended or was tried again with such an error" }),
  },
  { title: "ErrorGroup", additionalProperties: false },
);

export const ErrorGroupList = Type.Object(
  { error_groups: Type.Array(ErrorGroup), next_page_token: NextPageToken },
  { title: "ErrorGroupList", additionalProperties: false },
);

export type DeadLetterQuery = Static<typeof DeadLetterQuery>;
export type DeadLetterList = Static<typeof DeadLetterList>;
export type DeadLetterAction = Static<typeof DeadLetterAction>;
export type DeadLetterResult = Static<typeof DeadLetterResult>;
export type DeadLetterActionDone = Static<typeof DeadLetterActionDone>;
export type RunRepeat = Static<typeof RunRepeat>;
export type RunRetried = Static<typeof RunRetried>;
export type RunWithRedrives = Static<typeof RunWithRedrives>;
export type ErrorGroupQuery = Static<typeof ErrorGroupQuery>;
export type ErrorGroup = Static<typeof ErrorGroup>;
export type ErrorGroupList = Static<typeof ErrorGroupList>;
