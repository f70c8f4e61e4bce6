import type { Backfill } from "@carillon/contract";
import { formatId } from "@carillon/core";
import type { BackfillView } from "@carillon/engine";
import { timestamp, timestampOrNull } from "../timestamp.js";

export function wireBackfill(view: BackfillView): Backfill {
  const { state, reason, total, made, passed, skipped, concurrency, force, actor } = view;
  return {
    id: formatId("bkf", view.id),
    job_id: formatId("job", view.jobId),
    state,
    reason,
    from: timestamp(view.from),
    to: timestamp(view.to),
    total,
    made,
    passed,
    skipped,
    through: timestampOrNull(view.through),
    per_second: view.perSecond,
    concurrency,
    repeat: view.repeats,
    force,
    actor,
    created_at: timestamp(view.createdAt),
    finished_at: timestampOrNull(view.finishedAt),
  };
}
