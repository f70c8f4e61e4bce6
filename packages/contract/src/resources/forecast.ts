import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { described, Count, nullable, Timestamp, object, closed } from "../fields.js";
import { type Operation, getErrors } from "../operation.js";

export const ForecastQuery = closed({
  hours: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.forecastHours, default: 1, description: "How far to look ahead" }),
  ),
});
export type ForecastQuery = Static<typeof ForecastQuery>;

const Second = object("CrowdedSecond", { at: Timestamp, fires: Count("Jobs that fire in this second") });

const Proposal = object("JitterProposal", {
  description: Type.String({ description: "The schedule in words" }),
  jobs: Count("Jobs with this schedule"),
  examples: Type.Array(closed({ job_id: Type.String(), key: nullable(Type.String()) })),
  jitter: Type.String({ description: "What would spread them", examples: ["2m"] }),
  peak_before: Count("Their fires in one second now"),
  peak_after: Count("And with the jitter"),
});

export const Forecast = object(
  "Forecast",
  {
    from: Timestamp,
    until: described(Timestamp, "Earlier than asked where there is too much to count"),
    exact: Type.Boolean({ description: "False: estimated from a sample, or cut short" }),
    jobs: Count("Jobs that fire in that time"),
    sampled_jobs: Count("Jobs that were looked at"),
    fires: Count("Their fires"),
    per_minute: Type.Array(Type.Integer(), { description: "Fires of each minute from the first on" }),
    busiest: nullable(Second),
    crowded: Type.Array(Second, { description: "Seconds with far more fires than the others, the busiest first" }),
    proposals: Type.Array(Proposal),
  },
  {
    description:
      "What the schedules will fire. Runs by hand, retries and jobs that run once by themselves are not in it",
  },
);
export type Forecast = Static<typeof Forecast>;

export const getForecast = {
  method: "GET",
  path: "/v1/forecast",
  aliases: [{ path: "/forecast" }],
  tag: "Jobs",
  client: "jobs.forecast",
  summary: "Show what the schedules will fire in the next hours",
  description:
    "Fires by minute, crowded seconds, and jitter for the jobs that make them. All jobs are looked at up to about 20,000; beyond that " +
    "some shards stand for all, and the answer says so.",
  permission: "jobs:read",
  rateClass: "read",
  query: ForecastQuery,
  answers: { 200: { description: "The forecast", schema: Forecast } },
  errors: getErrors,
} as const satisfies Operation;
