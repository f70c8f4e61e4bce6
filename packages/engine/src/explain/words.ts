import { formatDuration, type Instant } from "@carillon/core";

/** For people: whole seconds from a second on. */
export function inWords(ms: number): string {
  const size = Math.max(0, ms);
  return formatDuration(size < 1_000 ? Math.round(size) : Math.round(size / 1_000) * 1_000);
}

export function at(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function byWhom(actor: string | null): string {
  return actor === null ? "" : ` by ${actor}`;
}

export function because(reason: string | null): string {
  return reason === null || reason === "" ? "" : `: ${reason}`;
}
