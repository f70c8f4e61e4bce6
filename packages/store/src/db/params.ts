import { type Instant, JsonText } from "@carillon/core";

let last: Instant = 0;
let lastText = new Date(last).toISOString();

/** JavaScript writes years after 9999 as +012345, PostgreSQL reads 12345: the sum of a late instant and a duration can be one. */
function timestampText(instant: Instant): string {
  const text = new Date(instant).toISOString();
  return text.startsWith("+") ? text.replace(/^\+0*/, "").replace("T", " ") : text;
}

/**
 * An instant as a timestamptz parameter, in whole milliseconds. A Date would be written in the host's time zone, digit by digit.
 * The last one is remembered: in a herd one instant stands in thousands of rows.
 */
export function timestampParam(instant: Instant): string {
  const whole = Math.trunc(instant);
  if (whole === last) return lastText;
  lastText = timestampText(whole);
  last = whole;
  return lastText;
}

/** In JSON text: an escaped backslash, which is kept, or an escape that jsonb refuses (NUL, half of a surrogate pair). */
const refusedEscape = /\\\\|\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/**
 * A value as a json or jsonb parameter; absent is null. Unstringified, pg would send a JS array as a PostgreSQL array.
 */
export function jsonParam(value: unknown): string {
  return storableJson(value instanceof JsonText ? value.text : JSON.stringify(value ?? null));
}

/** What PostgreSQL cannot hold becomes U+FFFD: a handler's odd message must not keep its run from ending. */
export function storableJson(text: string): string {
  if (!text.includes("\\u")) return text;
  return text.replace(refusedEscape, (escape) => (escape === "\\\\" ? escape : "\\ufffd"));
}
