import { Type } from "typebox";
import { JobExplanation, RunExplanation } from "../schema/explanation.js";
import { Forecast, ForecastQuery } from "../schema/forecast.js";
import { JobRef } from "./job-address.js";
import { queryErrors, storeErrors, type Operation } from "./operation.js";

export const explainRun = {
  method: "GET",
  path: "/v1/runs/{id}/explain",
  aliases: [{ path: "/runs/{id}/explain" }],
  tag: "Runs",
  summary: "Say why a run does not run",
  description: "One answer with its numbers: the first thing that keeps the run. Counts stop at 10,000.",
  permission: "runs:read",
  rateClass: "read",
  params: Type.Object({ id: Type.String({ examples: ["run_01k9zq3v5e0r8t2b7n4m6x1c9d"] }) }),
  answers: { 200: { description: "The answer", schema: RunExplanation } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const explainJob = {
  method: "GET",
  path: "/v1/jobs/{id}/explain",
  aliases: [{ path: "/jobs/{id}/explain" }],
  tag: "Jobs",
  summary: "Say whether a job fires, when, and if not, why",
  description: "With what its newest run waits for or how it ended, and with the newest entries of the ledger.",
  permission: "jobs:read",
  rateClass: "read",
  params: JobRef,
  answers: { 200: { description: "The answer", schema: JobExplanation } },
  errors: ["not_found", ...queryErrors, ...storeErrors],
} as const satisfies Operation;

export const getForecast = {
  method: "GET",
  path: "/v1/forecast",
  aliases: [{ path: "/forecast" }],
  tag: "Jobs",
  summary: "Show what the schedules will fire in the next hours",
  description:
    "Fires by minute, crowded seconds, and jitter for the jobs that make them. All jobs are looked at up to about 20,000; beyond that " +
    "some shards stand for all, and the answer says so.",
  permission: "jobs:read",
  rateClass: "read",
  query: ForecastQuery,
  answers: { 200: { description: "The forecast", schema: Forecast } },
  errors: [...queryErrors, ...storeErrors],
} as const satisfies Operation;
