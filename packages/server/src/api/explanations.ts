import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireJobExplanation, wireRunExplanation } from "./wire/explanation.js";
import { wireForecast } from "./wire/forecast.js";
import { warningsOf } from "./wire/schedule-words.js";
import { calendarsOf } from "./job-answers.js";
import { idOrNotFound, jobRef, notFound } from "./references.js";

export function explanationHandlers({
  engine,
  now,
}: ApiOptions): Pick<Handlers, "explainRun" | "explainJob" | "getForecast"> {
  return {
    async explainRun({ params, namespace }) {
      const found = await engine.explainRun(namespace, idOrNotFound("run", params.id));
      if (found === null) throw notFound(`There is no run ${params.id}.`);
      return { status: 200, body: wireRunExplanation(found.run, found.explanation) };
    },
    async getForecast({ query, namespace }) {
      return { status: 200, body: wireForecast(await engine.forecast(namespace, query.hours ?? 1)) };
    },
    async explainJob({ params, namespace }) {
      const explanation = await engine.explainJob(namespace, jobRef(params.id));
      const { job } = explanation;
      const calendars = await calendarsOf(engine, namespace, job.schedule);
      return { status: 200, body: wireJobExplanation(explanation, warningsOf(job, calendars, now())) };
    },
  };
}
