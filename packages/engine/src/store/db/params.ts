import type { Instant } from "@carillon/core";

/** An instant as a timestamptz parameter. A Date would be written in the host's time zone, digit by digit. */
export function timestampParam(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** In JSON text: an escaped backslash, which is kept, or an escape that jsonb refuses (NUL, half of a surrogate pair). */
const refusedEscape = /\\\\|\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/**
 * A value as a json or jsonb parameter; absent is null. Unstringified, pg would send a JS array as a PostgreSQL array. What
 * PostgreSQL cannot hold becomes U+FFFD: a handler's odd message must not keep its run from ending.
 */
export function jsonParam(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (!text.includes("\\u")) return text;
  return text.replace(refusedEscape, (escape) => (escape === "\\\\" ? escape : "\\ufffd"));
}
