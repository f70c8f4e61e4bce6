import { formatInstant, type Instant } from "@carillon/core";

/** RFC 3339 in UTC with milliseconds. */
export const timestamp = formatInstant;

export function timestampOrNull(instant: Instant | null): string | null {
  return instant === null ? null : timestamp(instant);
}
