import type { ErrorGroup } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ErrorGroupView } from "@carillon/engine";
import { notFound } from "./http/errors.js";
import { type ApiOptions, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { timestamp } from "./timestamp.js";

const fingerprintPattern = /^[0-9a-f]{16}$/;
const positionPattern = /^\d{1,15} [0-9a-f]{16}$/;

export function errorGroupHandlers({ engine }: ApiOptions) {
  return handlers({
    async listErrorGroups({ query, namespace }) {
      const { task } = query;
      const filter = { ...(task !== undefined && { task }) };
      const list = ["error_groups", namespace, filter];
      const readPosition = (text: string): string | null => (positionPattern.test(text) ? text : null);
      const page = await engine.deadLetters.listErrorGroups(namespace, filter, pageRequest(query, list, readPosition));
      const body = { error_groups: page.rows.map(toErrorGroupJson), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async getErrorGroup({ params, namespace }) {
      const { fingerprint } = params;
      const group = fingerprintPattern.test(fingerprint)
        ? await engine.deadLetters.getErrorGroup(namespace, fingerprint)
        : null;
      if (group === null) throw notFound(`There is no error group ${JSON.stringify(fingerprint)}.`);
      return { status: 200, body: toErrorGroupJson(group) };
    },
  });
}

function toErrorGroupJson(group: ErrorGroupView): ErrorGroup {
  const { fingerprint, type, message, tasks, count } = group;
  return {
    fingerprint,
    type,
    message,
    tasks: [...tasks],
    count,
    first_seen_at: timestamp(group.firstSeenAt),
    last_seen_at: timestamp(group.lastSeenAt),
    sample_run_id: formatId("run", group.sampleRunId),
  };
}
