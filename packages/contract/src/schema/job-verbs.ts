import { Type, type Static } from "typebox";
import { JobCreate } from "./job-create.js";
import { Job, MissedChoice } from "./job.js";
import { Count, DurationText, InstantText, Reason } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const { properties: field } = JobCreate;
const Flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const DryRun = Flag("Only says what would happen");

export const JobPause = Type.Object(
  {
    reason: Type.Optional(Reason),
    until: Type.Optional(InstantText("It resumes by itself then")),
    for: Type.Optional(DurationText("It resumes by itself after this time.", "2h")),
    missed: Type.Optional(MissedChoice),
  },
  { title: "JobPause", additionalProperties: false, examples: [{ reason: "the mail provider is down", for: "2h" }] },
);

export const JobResume = Type.Object(
  {
    missed: Type.Optional(
      stringEnum(["none", "latest", "all"], {
        description: "What to do with the occurrences inside the pause; as the pause said by default",
      }),
    ),
    dry_run: DryRun,
  },
  { title: "JobResume", additionalProperties: false, examples: [{ missed: "latest" }] },
);

export const JobResumed = Type.Object(
  {
    job: Job,
    missed: Count("Occurrences inside the pause"),
    dry_run: Type.Boolean({ description: "Nothing was changed" }),
  },
  { title: "JobResumed", additionalProperties: false },
);

const Running = stringEnum(["signal", "keep"], {
  description: "Running runs are asked to stop (signal, the default), or go on (keep); waiting ones end",
});

const Dependants = stringEnum(["refuse", "detach"], {
  description: "Where other jobs wait for this one: refused (the default), or they wait for it no longer (detach)",
});
const ending = { running: Type.Optional(Running), dependants: Type.Optional(Dependants) };

export const JobCancel = Type.Object(ending, { title: "JobCancel", additionalProperties: false });
/** DELETE has no body. */
export const JobDeleteQuery = Type.Object(ending, { additionalProperties: false });

export const JobRunNow = Type.Object(
  {
    payload: Type.Optional(Type.Unknown({ description: "In place of the job's; null is a payload" })),
    priority: field.priority,
    queue: field.queue,
    labels: field.labels,
    retry: field.retry,
    timeout: field.timeout,
    deadline: field.deadline,
    force: Flag("Whatever the job's overlap policy says"),
  },
  {
    title: "JobRunNow",
    additionalProperties: false,
    description: "What differs from the job for this one run",
    examples: [{ payload: { day: "2026-11-11" } }],
  },
);

export const JobRollback = Type.Object(
  { version: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "One of the job's versions" }) },
  { title: "JobRollback", additionalProperties: false, examples: [{ version: 3 }] },
);

export type JobPause = Static<typeof JobPause>;
export type JobResume = Static<typeof JobResume>;
export type JobResumed = Static<typeof JobResumed>;
export type JobCancel = Static<typeof JobCancel>;
export type JobDeleteQuery = Static<typeof JobDeleteQuery>;
export type JobRunNow = Static<typeof JobRunNow>;
export type JobRollback = Static<typeof JobRollback>;
