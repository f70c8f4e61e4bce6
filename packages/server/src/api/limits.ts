import { readLimitPatch } from "@carillon/contract";
import type { LimitFilter } from "@carillon/engine";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireLimit } from "./wire/limits.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type LimitHandlers = Pick<Handlers, "listLimits" | "getLimit" | "updateLimit" | "resumeLimit">;

export function limitHandlers({ engine }: ApiOptions): LimitHandlers {
  return {
    async listLimits({ query, namespace }) {
      const { scope, kind, key } = query;
      const filter: LimitFilter = {
        ...(scope !== undefined && { scope }),
        ...(kind !== undefined && { kind }),
        ...(key !== undefined && { key }),
      };
      const list = ["limits", namespace, filter];
      const page = await engine.listLimits(namespace, filter, pageRequest(query, list, readNumber));
      return { status: 200, body: { limits: page.rows.map(wireLimit), next_page_token: nextPageToken(page, list) } };
    },
    async getLimit({ params, namespace }) {
      const limit = await engine.getLimit(namespace, idOf(params.id));
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: wireLimit(limit) };
    },
    async updateLimit({ params, namespace, body }) {
      const change = readLimitPatch(body);
      const limit = await engine.changeLimit(namespace, idOf(params.id), change);
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: wireLimit(limit) };
    },
    async resumeLimit({ params, namespace }) {
      const limit = await engine.resumeLimit(namespace, idOf(params.id));
      if (limit === null) throw unknown(params.id);
      return { status: 200, body: wireLimit(limit) };
    },
  };
}

const unknown = (id: string): Error => notFound(`There is no limit ${JSON.stringify(id)}.`);

/** What cannot be an id names nothing. */
function idOf(text: string): number {
  const digits = /^lim_([1-9][0-9]{0,14})$/.exec(text)?.[1];
  if (digits === undefined) throw unknown(text);
  return Number(digits);
}

function readNumber(text: string): string | null {
  return /^[0-9]{1,15}$/.test(text) ? text : null;
}
