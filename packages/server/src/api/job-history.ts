import type { JobVersion, Occurrences } from "@carillon/contract";
import type { JobVersionView, OccurrenceView } from "@carillon/engine";
import { type ApiOptions, handlers } from "./http/handler.js";
import { nextPageToken, pageRequest } from "./http/paging.js";
import { toDefinitionJson } from "./job-responses.js";
import { jobRef } from "./references.js";
import { fireCount, toFireJson } from "./schedules.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

const readVersion = (text: string): string | null => (/^[1-9]\d{0,8}$/.test(text) ? text : null);
/** The engine validates the rest of its own page position. */
const readOccurrence = (text: string): string | null => (/^[a-z0-9_.:~-]{1,100}$/.test(text) ? text : null);

export function jobHistoryHandlers({ engine }: ApiOptions) {
  return handlers({
    async listJobVersions({ params, query, namespace }) {
      const ref = jobRef(params.id);
      const list = ["versions", namespace, ref];
      const page = await engine.jobs.versions(namespace, ref, pageRequest(query, list, readVersion));
      const body = { versions: page.rows.map(toVersionJson), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async listJobOccurrences({ params, query, namespace }) {
      const ref = jobRef(params.id);
      const list = ["occurrences", namespace, ref];
      const page = await engine.jobs.occurrences(namespace, ref, pageRequest(query, list, readOccurrence));
      const body = { occurrences: page.rows.map(toOccurrencesJson), next_page_token: nextPageToken(page, list) };
      return { status: 200, body };
    },
    async listJobUpcoming({ params, query, namespace }) {
      const fires = await engine.jobs.upcoming(namespace, jobRef(params.id), fireCount(query));
      return { status: 200, body: { fires: fires.map(toFireJson) } };
    },
  });
}

function toVersionJson({ version, spec, validFrom, validTo, replacedBy }: JobVersionView): JobVersion {
  const { key = null, owner = null, firing = {} } = spec;
  return {
    version,
    definition: toDefinitionJson({ ...spec, key, owner, firing }),
    valid_from: timestamp(validFrom),
    valid_to: timestampOrNull(validTo),
    replaced_by: replacedBy,
  };
}

export function toOccurrencesJson({ reason, from, to, count, version, detail }: OccurrenceView): Occurrences {
  return { reason, from: timestamp(from), to: timestamp(to), count, version, detail };
}
