import { Type, type Static } from "typebox";
import { Callbacks, TargetUrl } from "./end-callback.js";
import { BreakerRequest } from "./breaker.js";
import { firingRequest } from "./firing.js";
import { keyPattern, limits, namePattern } from "./limits.js";
import { RetryPolicySpelling, RetryRequest } from "./retry.js";
import { DurationText, InstantText, Labels, OwnerName } from "./scalars.js";
import { limitFields } from "./run-limits.js";
import { ScheduleRequest } from "./schedule.js";
import { AllowSpot, Deadline, Guarantee, Requires, Searchable, Sla, TaskVersion } from "./run-policy.js";

const Name = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: limits.nameLength, pattern: namePattern, description, examples: [example] });
const Text = (description: string, maxLength: number) => Type.String({ minLength: 1, maxLength, description });

/** What other systems call our fields; accepted beside them, never both for one thing. */
const foreignSpellings = {
  job_type: Type.Optional(Name("Other spelling of task", "echo")),
  schedule_time: Type.Optional(InstantText("Other spelling of schedule.at")),
  cron_expression: Type.Optional(Text("Other spelling of schedule.cron", limits.cronLength)),
  cron: Type.Optional(Text("Other spelling of schedule.cron", limits.cronLength)),
  timezone: Type.Optional(Text("Other spelling of schedule.time_zone", limits.parsedTextLength)),
  retries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 9_999, description: "Attempts after the first: retry.max_attempts - 1" }),
  ),
  retry_policy: Type.Optional(RetryPolicySpelling),
  user_id: Type.Optional(OwnerName("Other spelling of owner")),
  callback_url: Type.Optional(
    Type.Unsafe<string>({
      ...TargetUrl,
      description: "Other spelling of callbacks: told of every end, with the output",
    }),
  ),
};

export const JobCreate = Type.Object(
  {
    task: Type.Optional(Name("What a worker runs", "echo")),
    payload: Type.Optional(Type.Unknown({ description: "Any JSON value; null when left out" })),
    schedule: Type.Optional(ScheduleRequest),
    key: Type.Optional(
      Type.String({
        pattern: keyPattern,
        description: "Your own name for the job, unique in the namespace",
        examples: ["nightly-report"],
      }),
    ),
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
    priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 9, description: "9 is most urgent; 4 by default" })),
    queue: Type.Optional(Name("The stream of runs that it joins; default by default", "default")),
    ...firingRequest,
    labels: Type.Optional(Labels),
    searchable: Type.Optional(Searchable),
    owner: Type.Optional(OwnerName("Whom it belongs to: a user or a team, by your own names")),
    ...foreignSpellings,
  },
  {
    title: "JobCreate",
    additionalProperties: false,
    description: "task (or job_type) is required. Without a schedule the job runs once, at once.",
    examples: [{ task: "echo", payload: { hello: "world" } }],
  },
);

export type JobCreate = Static<typeof JobCreate>;
/** The fields of other systems, by their names. */
export const foreignFieldNames: readonly string[] = Object.keys(foreignSpellings);
