import type { Breaker } from "@carillon/contract";
import type { BreakerView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, type ApiResponse, handlers, ok, timestamp } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { readAnyName } from "./http/request.js";

const breakerList = listOf("breakers", toBreakerJson, readAnyName);

export function breakerHandlers({ engine }: ApiOptions) {
  return handlers({
    listBreakers: ({ query, namespace }) =>
      breakerList(query, [namespace], (page) => engine.breakers.list(namespace, page)),
    async getBreaker({ params: { name }, namespace }) {
      return shown(name, await engine.breakers.get(namespace, nameOf(name)));
    },
    async resetBreaker({ params: { name }, namespace }) {
      return shown(name, await engine.breakers.reset(namespace, nameOf(name)));
    },
  });
}

const unknown = (name: string): string => `No breaker ${JSON.stringify(name)} has opened so far.`;

const nameOf = (text: string): string => found(readAnyName(text), unknown(text));

const shown = (name: string, breaker: BreakerView | null): ApiResponse =>
  ok(toBreakerJson(found(breaker, unknown(name))));

function toBreakerJson({ name, state, reason, openedAt, probeAt, openings, updatedAt }: BreakerView): Breaker {
  return {
    name,
    state,
    reason,
    opened_at: timestamp(openedAt),
    probe_at: state === "closed" ? null : timestamp(probeAt),
    openings,
    updated_at: timestamp(updatedAt),
  };
}
