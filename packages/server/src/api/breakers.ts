import { anyNamePattern, limits } from "@carillon/contract";
import type { CarillonError } from "@carillon/core";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireBreaker } from "./wire/breaker.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type BreakerHandlers = Pick<Handlers, "listBreakers" | "getBreaker" | "resetBreaker">;

const pattern = new RegExp(anyNamePattern);

export function breakerHandlers({ engine }: ApiOptions): BreakerHandlers {
  return {
    async listBreakers({ query, namespace }) {
      const list = ["breakers", namespace];
      const page = await engine.listBreakers(namespace, pageRequest(query, list, readName));
      const breakers = page.rows.map(wireBreaker);
      return { status: 200, body: { breakers, next_page_token: nextPageToken(page, list) } };
    },
    async getBreaker({ params, namespace }) {
      const breaker = await engine.getBreaker(namespace, nameOf(params.name));
      if (breaker === null) throw unknown(params.name);
      return { status: 200, body: wireBreaker(breaker) };
    },
    async resetBreaker({ params, namespace }) {
      const breaker = await engine.resetBreaker(namespace, nameOf(params.name));
      if (breaker === null) throw unknown(params.name);
      return { status: 200, body: wireBreaker(breaker) };
    },
  };
}

const unknown = (name: string): CarillonError => notFound(`No breaker ${JSON.stringify(name)} has opened so far.`);

function readName(text: string): string | null {
  return text.length <= limits.nameLength && pattern.test(text) ? text : null;
}

/** What cannot be a name names nothing. */
function nameOf(text: string): string {
  const name = readName(text);
  if (name === null) throw unknown(text);
  return name;
}
