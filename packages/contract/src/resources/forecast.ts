import { type Static, Type } from "typebox";
import { limits } from "../bounds.js";
import { closed, Count, described, nullable, object, Text, Timestamp } from "../fields.js";
import { singleAnswer, type Operation } from "../operation.js";

export const ForecastQuery = closed({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.forecastHours,
      default: 1,
      description: "The number of hours to forecast",
    }),
  ),
});
export type ForecastQuery = Static<typeof ForecastQuery>;

const Second = object("CrowdedSecond", { at: Timestamp, fires: Count("Jobs that fire in this second") });

const Proposal = object("JitterProposal", {
  description: Text("The schedule in words"),
  jobs: Count("Jobs with this schedule"),
  examples: Type.Array(closed({ job_id: Type.String(), key: nullable(Type.String()) })),
  jitter: Type.String({ description: "The jitter that would spread them", examples: ["2m"] }),
  peak_before: Count("Their fires in the busiest second now"),
  peak_after: Count("Their fires in the busiest second with the jitter"),
});

export const Forecast = object(
  "Forecast",
  {
    from: Timestamp,
    until: described(Timestamp, "The end of the forecast: earlier than requested if there are too many fires to count"),
    exact: Type.Boolean({ description: "False if the forecast is estimated from a sample or cut short" }),
    jobs: Count("Jobs that fire in this time"),
    sampled_jobs: Count("Jobs in the sample"),
    fires: Count("Their fires"),
    per_minute: Type.Array(Type.Integer(), { description: "The number of fires in each minute" }),
    busiest: nullable(Second),
    crowded: Type.Array(Second, { description: "Seconds with far more fires than others, busiest first" }),
    proposals: Type.Array(Proposal),
  },
  {
    description: "The fires of the schedules. Manual runs, retries and one-off jobs are not included",
  },
);
export type Forecast = Static<typeof Forecast>;

export const getForecast = {
  method: "GET",
  path: "/v1/forecast",
  aliases: [{ path: "/forecast" }],
  tag: "Jobs",
  client: "jobs.forecast",
  summary: "Forecast the fires of the next hours",
  description:
    "Returns fires per minute, crowded seconds, and the jitter that would spread them. With more than about 20,000 jobs the " +
    "forecast is an estimate from some shards, and says so.",
  permission: "jobs:read",
  rateClass: "read",
  query: ForecastQuery,
  ...singleAnswer(Forecast, "The forecast"),
} as const satisfies Operation;
