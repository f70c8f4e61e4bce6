import { type Breaker } from "@carillon/contract";
import type { CarillonError } from "@carillon/core";
import type { BreakerView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { readAnyName } from "./references.js";
import { timestamp } from "./timestamp.js";

export function breakerHandlers({ engine }: ApiOptions) {
  return handlers({
    async listBreakers({ query, namespace }) {
      const list = ["breakers", namespace];
      const page = await engine.breakers.list(namespace, pageRequest(query, list, readAnyName));
      const breakers = page.rows.map(toBreakerJson);
      return { status: 200, body: { breakers, next_page_token: nextPageToken(page, list) } };
    },
    async getBreaker({ params, namespace }) {
      const breaker = await engine.breakers.get(namespace, nameOf(params.name));
      if (breaker === null) throw unknown(params.name);
      return { status: 200, body: toBreakerJson(breaker) };
    },
    async resetBreaker({ params, namespace }) {
      const breaker = await engine.breakers.reset(namespace, nameOf(params.name));
      if (breaker === null) throw unknown(params.name);
      return { status: 200, body: toBreakerJson(breaker) };
    },
  });
}

const unknown = (name: string): CarillonError => notFound(`No breaker ${JSON.stringify(name)} has opened so far.`);

function nameOf(text: string): string {
  const name = readAnyName(text);
  if (name === null) throw unknown(text);
  return name;
}

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
