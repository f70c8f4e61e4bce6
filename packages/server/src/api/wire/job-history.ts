import type { JobVersion, Occurrences, UpcomingFire } from "@carillon/contract";
import { describeFireNote, type PreviewedFire } from "@carillon/core";
import type { JobVersionView, OccurrenceView } from "@carillon/engine";
import { wireDefinition } from "./definition.js";
import { timestamp, timestampOrNull } from "../timestamp.js";

export function wireVersion({ version, spec, validFrom, validTo, replacedBy }: JobVersionView): JobVersion {
  const { key = null, owner = null, firing = {} } = spec;
  return {
    version,
    definition: wireDefinition({ ...spec, key, owner, firing }),
    valid_from: timestamp(validFrom),
    valid_to: timestampOrNull(validTo),
    replaced_by: replacedBy,
  };
}

export function wireOccurrences({ reason, from, to, count, version, detail }: OccurrenceView): Occurrences {
  return { reason, from: timestamp(from), to: timestamp(to), count, version, detail };
}

export function wireFire({ outcome, nominal, fireAt, wallTime, notes }: PreviewedFire): UpcomingFire {
  return {
    outcome,
    scheduled_for: timestamp(nominal),
    run_at: timestamp(fireAt),
    local_time: wallTime,
    notes: notes.map((note) => ({ kind: note.kind, detail: describeFireNote(note) })),
  };
}
