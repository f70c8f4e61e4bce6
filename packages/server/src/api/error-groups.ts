import type { Handlers } from "./http/call.js";
import type { ApiOptions } from "./http/handler.js";
import { wireErrorGroup } from "./wire/failures.js";
import { notFound } from "./references.js";
import { nextPageToken, pageRequest } from "./http/list-page.js";

const name = /^[0-9a-f]{16}$/;
const place = /^\d{1,15} [0-9a-f]{16}$/;

export function errorGroupHandlers({ engine }: ApiOptions): Pick<Handlers, "listErrorGroups" | "getErrorGroup"> {
  return {
    async listErrorGroups({ query, namespace }) {
      const { task } = query;
      const filter = { ...(task !== undefined && { task }) };
      const list = ["error_groups", namespace, filter];
      const readPlace = (text: string): string | null => (place.test(text) ? text : null);
      const page = await engine.listErrorGroups(namespace, filter, pageRequest(query, list, readPlace));
      const body = { error_groups: page.rows.map(wireErrorGroup), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getErrorGroup({ params, namespace }) {
      const { fingerprint } = params;
      const group = name.test(fingerprint) ? await engine.getErrorGroup(namespace, fingerprint) : null;
      if (group === null) throw notFound(`There is no kind of error ${JSON.stringify(fingerprint)}.`);
      return { status: 200, body: wireErrorGroup(group) };
    },
  };
}
