import { CarillonError, formatInstant, type Instant, type ScheduleSpec } from "@carillon/core";
import type { BackfillRequest } from "../model/backfills.js";

/** Refuses a range that is not of the past. */
export function checkRequest({ from, to }: BackfillRequest, now: Instant): void {
  if (from > to) throw invalid(`the range ends at ${formatInstant(to)}, before it begins at ${formatInstant(from)}`);
  if (from < 0) throw invalid("the range begins before 1970: nothing can have run then");
  if (to > now)
    throw invalid(
      `the range ends at ${formatInstant(to)}, which has not come yet: it is ${formatInstant(now)}; the schedule runs what comes`,
    );
}

export function nothingThere({ kind }: ScheduleSpec): CarillonError {
  const why =
    kind === "manual" || kind === "after"
      ? "the job has no times of its own: run it now instead"
      : "the job's rule has no occurrence in that range";
  return invalid(why);
}

function invalid(detail: string): CarillonError {
  return new CarillonError("backfill_invalid", detail);
}
