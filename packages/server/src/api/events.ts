import type { EventQuery } from "@carillon/contract";
import { formatId } from "@carillon/core";
import { type EventFilter, readEventTypes } from "../events/public-event.js";
import { type ApiOptions, handlers } from "./http/handler.js";
import { idOrNotFound, jobIdOf } from "./http/request.js";

export function eventHandlers({ engine, events }: ApiOptions) {
  return handlers({
    async streamEvents({ query, namespace, lastEventId }) {
      const stream = events.open(await filterOf(engine, namespace, query), lastEventId);
      const headers = { "Cache-Control": "no-store", "X-Accel-Buffering": "no" };
      return { status: 200, body: stream, contentType: "text/event-stream; charset=utf-8", headers };
    },
  });
}

async function filterOf(engine: ApiOptions["engine"], namespace: string, query: EventQuery): Promise<EventFilter> {
  const { type, job, run, queue } = query;
  const types = type === undefined ? undefined : readEventTypes(type);
  return {
    namespaceId: await engine.namespaces.idOf(namespace),
    ...(types !== undefined && { types }),
    ...(job !== undefined && { jobId: await jobIdOf(engine, namespace, job) }),
    ...(run !== undefined && { runId: formatId("run", idOrNotFound("run", run)) }),
    ...(queue !== undefined && { queue }),
  };
}
