import { limits } from "@carillon/contract";
import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireFire, wireOccurrences, wireVersion } from "./wire/job-history.js";
import { jobRef } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

type HistoryHandlers = Pick<Handlers, "listJobVersions" | "listJobOccurrences" | "listJobUpcoming">;

/** A version, as far as it can be one. */
const readVersion = (text: string): string | null => (/^[1-9]\d{0,8}$/.test(text) ? text : null);
/** The engine's own words: short and plain, the rest is its to judge. */
const readOccurrence = (text: string): string | null => (/^[a-z0-9_.:~-]{1,100}$/.test(text) ? text : null);

export function jobHistoryHandlers({ engine }: ApiOptions): HistoryHandlers {
  return {
    async listJobVersions({ params, query, namespace }) {
      const ref = jobRef(params.id);
      const list = ["versions", namespace, ref];
      const page = await engine.listVersions(namespace, ref, pageRequest(query, list, readVersion));
      const body = { versions: page.rows.map(wireVersion), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async listJobOccurrences({ params, query, namespace }) {
      const ref = jobRef(params.id);
      const list = ["occurrences", namespace, ref];
      const page = await engine.listOccurrences(namespace, ref, pageRequest(query, list, readOccurrence));
      const body = { occurrences: page.rows.map(wireOccurrences), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async listJobUpcoming({ params, query, namespace }) {
      const fires = await engine.upcoming(namespace, jobRef(params.id), fireCount(query));
      return { status: 200, body: { fires: fires.map(wireFire) } };
    },
  };
}

export function fireCount({ count = limits.defaultUpcoming }: { readonly count?: number }): number {
  return Math.min(count, limits.upcoming);
}
