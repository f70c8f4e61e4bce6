import { forecastsApi } from "../forecast/forecasts-api.js";
import type { Asking } from "./asking.js";
import type { Calendaring } from "./calendaring.js";
import { catalogueApi } from "./catalogue-api.js";
import { declarePaths } from "./declare-paths.js";
import { engineApi, withinNamespace } from "./engine-api.js";
import { makeExplaining } from "./explaining.js";
import { type Ground, shardCount } from "./ground.js";
import type { EngineApis } from "../options.js";
import type { Running } from "./running.js";
import { tellChanges } from "./tell-changes.js";
import { workersApi } from "./workers-api.js";

export interface ApiParts {
  readonly calendaring: Calendaring;
  readonly running: Running;
  readonly asking: Asking;
}

/** All that callers ask of a node, put together from its parts. */
export function makeApis(ground: Ground, { calendaring, running, asking }: ApiParts): EngineApis {
  const { options, store, now, emit } = ground;
  const { gateway } = running.dispatching;
  const within = withinNamespace(store.namespaces);
  const api: EngineApis = {
    ...engineApi(store, asking.creator, { ...options, waiters: running.waiters }),
    ...asking.enqueueing,
    ...asking.receipts,
    ...workersApi(store, gateway),
    ...catalogueApi(store),
    ...asking.changing.api,
    ...calendaring.api,
    ...asking.backfilling.api,
    ...running.queueing.api,
    ...running.limiting.api,
    ...asking.operating.api,
    ...running.failing.api(asking.changing.transaction, running.notifying.teller),
    ...running.notifying.api,
    ...makeExplaining({
      db: options.database,
      store,
      changes: asking.changing.api,
      limitsOf: (namespace, runId) => running.limiting.api.limitsOf(namespace, runId),
      breakerOf: (namespace, name) => running.queueing.api.getBreaker(namespace, name),
      now,
    }),
    answerCallback: (tokenHash, answer) => gateway.waiting.answer(tokenHash, answer),
    ...forecastsApi({ reads: store.forecastReads, rules: calendaring.rules, shards: shardCount, now, within }),
  };
  return declarePaths(tellChanges(api, within, emit), within, store.searchPaths);
}
