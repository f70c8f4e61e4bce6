import { readReschedule, readRunRepeat } from "@carillon/contract";
import { CarillonError } from "@carillon/core";
import { type ApiOptions, contextWithReceipt, handlers, momentOf, ok } from "./http/handler.js";
import { JobResponses } from "./job-responses.js";
import { idOrNotFound } from "./references.js";
import { newRunResponse, runOrExistingResponse, toRunJson } from "./run-responses.js";

export function runChangeHandlers(options: ApiOptions) {
  const { engine } = options;
  const jobs = new JobResponses(options);
  return handlers({
    async cancelRun({ params, namespace }) {
      return ok(toRunJson(await engine.runs.cancel(namespace, idOrNotFound("run", params.id))));
    },
    async rescheduleRun({ params, namespace, body }) {
      const at = readReschedule(body, momentOf(options, namespace));
      return ok(toRunJson(await engine.runs.reschedule(namespace, idOrNotFound("run", params.id), at)));
    },
    async retryRun(call) {
      const id = idOrNotFound("run", call.params.id);
      const request = readRunRepeat(call.body);
      const { run, isNew } = await engine.deadLetters.retryRun(call.namespace, id, request, contextWithReceipt(call));
      return runOrExistingResponse(run, isNew);
    },
    async retryJob(call) {
      const { params, namespace } = call;
      const { lastRun } = await jobs.find(namespace, params.id);
      if (lastRun === null) throw new CarillonError("run_not_failed", "The job has not run yet.");
      const request = readRunRepeat(call.body);
      const { run, isNew } = await engine.deadLetters.retryRun(
        namespace,
        lastRun.id,
        request,
        contextWithReceipt(call),
      );
      return runOrExistingResponse(run, isNew);
    },
    async replayRun(call) {
      const id = idOrNotFound("run", call.params.id);
      const request = readRunRepeat(call.body);
      return newRunResponse(await engine.deadLetters.replayRun(call.namespace, id, request, contextWithReceipt(call)));
    },
  });
}
