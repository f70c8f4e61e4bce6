import { dedupeActions } from "@carillon/core";
import { BreakerRequest } from "./breaker.js";
import { Type, type Static } from "typebox";
import { Callbacks } from "./end-callback.js";
import { limits, namePattern, printablePattern } from "./limits.js";
import { Problem } from "./problem.js";
import { RetryRequest } from "./retry.js";
import { AllowSpot, Deadline, Guarantee, Requires, Searchable, Sla, TaskVersion } from "./run-policy.js";
import { Run } from "./run.js";
import { Count, DurationText, InstantText, Labels, OwnerName } from "./scalars.js";
import { limitFields } from "./run-limits.js";
import { stringEnum } from "./string-enum.js";

const Name = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern, description, examples: [example] });

const DedupeRequest = Type.Object(
  {
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.nameLength,
        pattern: printablePattern,
        description: "What the run is about, in your own words; without it the task alone is the identity",
        examples: ["welcome:u003"],
      }),
    ),
    on: Type.Optional(
      stringEnum(dedupeActions, {
        description:
          "While another run of this task and key counts: ignore answers with that run (the default), reject is an error, replace " +
          "takes the place of one that no worker has yet",
      }),
    ),
    window: Type.Optional(
      DurationText("How long a run counts after its end; without it a run counts while it is live.", "1h"),
    ),
  },
  { title: "DedupeRequest", additionalProperties: false, description: "Business identity of the run" },
);

export const RunWaitQuery = Type.Object(
  {
    wait: Type.Optional(
      DurationText(
        `Answers when the run has ended, or after this time; more than ${limits.waitMs / 1_000}s counts as that.`,
        "10s",
      ),
    ),
  },
  { additionalProperties: false },
);

export const RunCreate = Type.Object(
  {
    task: Type.Optional(Name("What a worker runs", "echo")),
    payload: Type.Optional(Type.Unknown({ description: "Any JSON value; null when left out" })),
    queue: Type.Optional(Name("The stream of runs that it joins; default by default", "default")),
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 9, description: "9 is most urgent; 4 by default" })),
    delay: Type.Optional(DurationText("How long to wait before it may start.", "3d")),
    run_at: Type.Optional(InstantText("When it may start; at once when neither this nor delay is given")),
    retry: Type.Optional(RetryRequest),
    timeout: Type.Optional(DurationText("For each attempt.", "2m")),
    deadline: Type.Optional(Deadline),
    sla: Type.Optional(Sla),
    guarantee: Type.Optional(Guarantee),
    requires: Type.Optional(Requires),
    ...limitFields,
    callbacks: Type.Optional(Callbacks),
    task_version: Type.Optional(TaskVersion),
    allow_spot: Type.Optional(AllowSpot),
    breaker: Type.Optional(BreakerRequest),
    labels: Type.Optional(Labels),
    searchable: Type.Optional(Searchable),
    owner: Type.Optional(OwnerName("Whom it belongs to: a user or a team, by your own names")),
    dedupe: Type.Optional(DedupeRequest),
  },
  {
    title: "RunCreate",
    additionalProperties: false,
    description: "task is required.",
    examples: [{ task: "echo", payload: { hello: "world" }, dedupe: { key: "hello" } }],
  },
);

export const RunCreated = Type.Object(
  {
    ...Run.properties,
    is_new: Type.Boolean({ description: "Whether this call made the run; false: it counts for the same dedupe key" }),
  },
  { title: "RunCreated", additionalProperties: false },
);

export const RunBatch = Type.Object(
  { runs: Type.Array(RunCreate, { maxItems: limits.batch, description: "Each as in asking for one run" }) },
  {
    title: "RunBatch",
    additionalProperties: false,
    description: `Up to ${limits.batch} runs. Each is stored or refused by itself.`,
    examples: [
      {
        runs: [
          { task: "echo", payload: 1 },
          { task: "echo", payload: 2 },
        ],
      },
    ],
  },
);

const RunBatchResult = Type.Object(
  {
    id: Type.Optional(
      Type.String({ description: "Of the run: the new one, or the one that counts for its dedupe key" }),
    ),
    is_new: Type.Optional(Type.Boolean({ description: "Whether this call made the run" })),
    problem: Type.Optional(Type.Unsafe<Problem>({ ...Problem, description: "Why there is none" })),
  },
  { title: "RunBatchResult", additionalProperties: false, description: "Either id and is_new or problem" },
);

export const RunBatchCreated = Type.Object(
  {
    results: Type.Array(RunBatchResult, { description: "In the order of the request" }),
    created: Count("How many runs were made"),
    duplicates: Count("For how many a run was there already"),
    refused: Count("How many were refused"),
  },
  { title: "RunBatchCreated", additionalProperties: false },
);

export type RunCreate = Static<typeof RunCreate>;
export type RunCreated = Static<typeof RunCreated>;
export type RunBatch = Static<typeof RunBatch>;
export type RunBatchResult = Static<typeof RunBatchResult>;
export type RunBatchCreated = Static<typeof RunBatchCreated>;
