import { JobBatch, JobBatchCreated } from "../schema/job-batch.js";
import { bodyErrors } from "./job-errors.js";
import { storeErrors, type Operation } from "./operation.js";

export const createJobs = {
  method: "POST",
  path: "/v1/jobs:batchCreate",
  aliases: [{ path: "/jobs:batchCreate" }],
  tag: "Jobs",
  summary: "Create many jobs at once",
  description:
    "Each job is created or refused by itself, in one call that costs far less than many. Those that were created are durable when it is " +
    "answered.",
  permission: "jobs:write",
  rateClass: "bulk",
  body: JobBatch,
  answers: { 200: { description: "What became of each", schema: JobBatchCreated } },
  errors: [...bodyErrors, ...storeErrors],
} as const satisfies Operation;
