import { CarillonError, formatInstant, type Instant, type ScheduleSpec } from "@carillon/core";
import type { BackfillRequest } from "@carillon/store";

/** Refuses a range that is not of the past, and bounds that would never let a run be made. */
export function checkRequest({ from, to, perSecond, concurrency }: BackfillRequest, now: Instant): void {
  if (!(perSecond > 0 && Number.isFinite(perSecond))) throw invalid("the rate must be a number above 0");
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw invalid("the concurrency must be a whole number, at least 1");
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
