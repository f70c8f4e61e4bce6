import type { Forecast as Wire } from "@carillon/contract";
import { formatDuration, formatId } from "@carillon/core";
import type { CrowdedSecond, Forecast, JitterProposal } from "@carillon/engine";
import { timestamp } from "../timestamp.js";

export function wireForecast(forecast: Forecast): Wire {
  const { from, until, isExact, jobs, sampledJobs, fires, perMinute, busiest, crowded, proposals } = forecast;
  return {
    from: timestamp(from),
    until: timestamp(until),
    exact: isExact,
    jobs,
    sampled_jobs: sampledJobs,
    fires,
    per_minute: [...perMinute],
    busiest: busiest && wireSecond(busiest),
    crowded: crowded.map(wireSecond),
    proposals: proposals.map(wireProposal),
  };
}

function wireSecond({ at, fires }: CrowdedSecond) {
  return { at: timestamp(at), fires };
}

function wireProposal({ description, jobs, examples, jitterMs, peakBefore, peakAfter }: JitterProposal) {
  return {
    description,
    jobs,
    examples: examples.map(({ id, key }) => ({ job_id: formatId("job", id), key })),
    jitter: formatDuration(jitterMs),
    peak_before: peakBefore,
    peak_after: peakAfter,
  };
}
