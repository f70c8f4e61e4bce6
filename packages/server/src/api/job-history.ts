import type { JobVersion, Occurrences } from "@carillon/contract";
import type { JobVersionView, OccurrenceView } from "@carillon/engine";
import { type ApiOptions, handlers, ok } from "./http/handler.js";
import { listOf } from "./http/paging.js";
import { toDefinitionJson } from "./job-responses.js";
import { jobRef } from "./references.js";
import { fireCount, toFireJson } from "./schedules.js";
import { timestamp, timestampOrNull } from "./timestamp.js";

const readVersion = (text: string): string | null => (/^[1-9]\d{0,8}$/.test(text) ? text : null);
/** The engine validates the rest of its own page position. */
const readOccurrence = (text: string): string | null => (/^[a-z0-9_.:~-]{1,100}$/.test(text) ? text : null);

const versionList = listOf("versions", toVersionJson, readVersion);
const occurrenceList = listOf("occurrences", toOccurrencesJson, readOccurrence);

export function jobHistoryHandlers({ engine }: ApiOptions) {
  return handlers({
    listJobVersions({ params, query, namespace }) {
      const ref = jobRef(params.id);
      return versionList(query, [namespace, ref], (page) => engine.jobs.versions(namespace, ref, page));
    },
    listJobOccurrences({ params, query, namespace }) {
      const ref = jobRef(params.id);
      return occurrenceList(query, [namespace, ref], (page) => engine.jobs.occurrences(namespace, ref, page));
    },
    async listJobUpcoming({ params, query, namespace }) {
      const fires = await engine.jobs.upcoming(namespace, jobRef(params.id), fireCount(query));
      return ok({ fires: fires.map(toFireJson) });
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
