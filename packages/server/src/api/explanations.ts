import type {
  Forecast as ForecastJson,
  JobExplanation as JobExplanationJson,
  Warning,
  RunExplanation as RunExplanationJson,
} from "@carillon/contract";
import { formatDuration, formatId } from "@carillon/core";
import type {
  CrowdedSecond,
  Forecast,
  JitterProposal,
  JobExplanation,
  RunExplanation,
  RunView,
} from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, handlers, ok, timestamp, timestampOrNull } from "./http/handler.js";
import { toNeighboursJson, toOccurrencesJson } from "./jobs.js";
import { idOrNotFound, jobRef } from "./http/request.js";
import { calendarsOf, warningsOf } from "./schedules.js";
import { unservedJobWarnings } from "./unserved-warnings.js";

export function explanationHandlers({ engine, now }: ApiOptions) {
  return handlers({
    async explainRun({ params, namespace }) {
      const explained = await engine.explanations.run(namespace, idOrNotFound("run", params.id));
      const { run, explanation } = found(explained, `There is no run ${params.id}.`);
      return ok(toRunExplanationJson(run, explanation));
    },
    async getForecast({ query, namespace }) {
      return ok(toForecastJson(await engine.forecasts.get(namespace, query.hours ?? 1)));
    },
    async explainJob({ params, namespace }) {
      const explanation = await engine.explanations.job(namespace, jobRef(params.id));
      const { job } = explanation;
      const calendars = await calendarsOf(engine, namespace, job.schedule);
      const unserved = await unservedJobWarnings(engine, namespace, job);
      return ok(toJobExplanationJson(explanation, [...warningsOf(job, calendars, now()), ...unserved]));
    },
  });
}

function toRunExplanationJson(run: RunView, { code, detail, until, facts }: RunExplanation): RunExplanationJson {
  return {
    run_id: formatId("run", run.id),
    status: run.status,
    code,
    detail,
    until: timestampOrNull(until),
    facts: { ...facts },
  };
}

function toJobExplanationJson(explanation: JobExplanation, warnings: Warning[]): JobExplanationJson {
  const { job, state, code, detail, until, facts, run, outcomes } = explanation;
  const { upstream } = toNeighboursJson(job);
  return {
    job_id: formatId("job", job.id),
    state,
    code,
    detail,
    until: timestampOrNull(until),
    facts: { ...facts },
    next_run_at: timestampOrNull(job.nextRunAt),
    ...(upstream !== undefined && { upstream }),
    run: run && toRunExplanationJson(run.run, run.explanation),
    outcomes: outcomes.map(toOccurrencesJson),
    warnings,
  };
}

function toForecastJson(forecast: Forecast): ForecastJson {
  const { from, until, isExact, jobs, sampledJobs, fires, perMinute, busiest, crowded, proposals } = forecast;
  return {
    from: timestamp(from),
    until: timestamp(until),
    exact: isExact,
    jobs,
    sampled_jobs: sampledJobs,
    fires,
    per_minute: [...perMinute],
    busiest: busiest && toSecondJson(busiest),
    crowded: crowded.map(toSecondJson),
    proposals: proposals.map(toProposalJson),
  };
}

function toSecondJson({ at, fires }: CrowdedSecond) {
  return { at: timestamp(at), fires };
}

function toProposalJson({ description, jobs, examples, jitterMs, peakBefore, peakAfter }: JitterProposal) {
  return {
    description,
    jobs,
    examples: examples.map(({ id, key }) => ({ job_id: formatId("job", id), key })),
    jitter: formatDuration(jitterMs),
    peak_before: peakBefore,
    peak_after: peakAfter,
  };
}
