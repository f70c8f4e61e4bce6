import type { ErrorGroup } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { ErrorGroupView } from "@carillon/engine";
import { found } from "./http/errors.js";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { timestamp } from "./timestamp.js";

const fingerprintPattern = /^[0-9a-f]{16}$/;
const positionPattern = /^\d{1,15} [0-9a-f]{16}$/;
const errorGroupList = listOf("error_groups", toErrorGroupJson, (text) => (positionPattern.test(text) ? text : null));

export function errorGroupHandlers({ engine }: ApiOptions) {
  return handlers({
    listErrorGroups({ query, namespace }) {
      const { task } = query;
      const filter = { ...(task !== undefined && { task }) };
      return errorGroupList(query, [namespace, filter], (page) =>
        engine.deadLetters.listErrorGroups(namespace, filter, page),
      );
    },
    async getErrorGroup({ params, namespace }) {
      const { fingerprint } = params;
      const group = fingerprintPattern.test(fingerprint)
        ? await engine.deadLetters.getErrorGroup(namespace, fingerprint)
        : null;
      return ok(toErrorGroupJson(found(group, `There is no error group ${JSON.stringify(fingerprint)}.`)));
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
