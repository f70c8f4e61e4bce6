import { Type, type Static } from "typebox";
import { JobCreate } from "./job-create.js";
import { limits } from "./limits.js";
import { Problem } from "./problem.js";
import { Count } from "./scalars.js";

export const JobBatch = Type.Object(
  { jobs: Type.Array(JobCreate, { maxItems: limits.batch, description: "Each as in creating one job" }) },
  {
    title: "JobBatch",
    additionalProperties: false,
    description: `Up to ${limits.batch} jobs. Each is created or refused by itself.`,
    examples: [
      {
        jobs: [
          { task: "echo", key: "one" },
          { task: "echo", key: "two" },
        ],
      },
    ],
  },
);

const BatchResult = Type.Object(
  {
    id: Type.Optional(Type.String({ description: "Of the job that was created" })),
    problem: Type.Optional(Type.Unsafe<Problem>({ ...Problem, description: "Why none was created" })),
  },
  { title: "BatchResult", additionalProperties: false, description: "Either id or problem" },
);

export const JobBatchCreated = Type.Object(
  {
    results: Type.Array(BatchResult, { description: "In the order of the request" }),
    created: Count("How many jobs were created"),
    refused: Count("How many were not"),
  },
  { title: "JobBatchCreated", additionalProperties: false },
);

export type JobBatch = Static<typeof JobBatch>;
export type BatchResult = Static<typeof BatchResult>;
export type JobBatchCreated = Static<typeof JobBatchCreated>;
