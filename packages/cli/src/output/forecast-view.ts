import type { Forecast } from "@carillon/contract";
import { renderFields } from "../table.js";

/** For people: totals, the crowded seconds and what would spread them. JSON has every minute. */
export function renderForecast(forecast: Forecast): string {
  const {
    from,
    until,
    exact,
    jobs,
    sampled_jobs: sampled,
    fires,
    per_minute: perMinute,
    busiest,
    crowded,
    proposals,
  } = forecast;
  return renderFields([
    ["from", from],
    ["until", until],
    ["jobs", exact ? String(jobs) : `about ${jobs}, from ${sampled} of them`],
    ["fires", String(fires)],
    ["most in a minute", String(Math.max(0, ...perMinute))],
    ["busiest second", busiest === null ? null : `${busiest.at}: ${busiest.fires}`],
    ...crowded.map((one): [string, string] => ["crowded", `${one.at}: ${one.fires} fires`]),
    ...proposals.map((one): [string, string] => [
      "proposal",
      `jitter ${one.jitter} for ${one.jobs} jobs (${one.description}): ${one.peak_before} → ${one.peak_after} in a second, such as ${one.examples.map((job) => job.key ?? job.job_id).join(", ")}`,
    ]),
  ]);
}
