import type { Instant } from "@carillon/core";

/** RFC 3339 in UTC with milliseconds. */
export function timestamp(instant: Instant): string {
  return new Date(instant).toISOString();
}

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestamp(instant);
}
