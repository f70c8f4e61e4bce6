import type { CompiledSchedule, Instant } from "@carillon/core";
import type { LedgerRange } from "./fire-store.js";

const mostRemoved = 10_000;

/** What calendars took from a schedule after `from` and not after `to`, for the ledger. */
export function calendarNotes(schedule: CompiledSchedule, from: Instant, to: Instant): LedgerRange[] {
  const removed = schedule.removedBetween(from, to, mostRemoved);
  const [first, last] = [removed[0], removed.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ reason: "calendar", from: first.at, to: last.at, count: removed.length, detail: null }];
}
