import type { DurationMs, Instant } from "@carillon/core";

/** How long Retry-After asks to wait: seconds, or a date. Undefined if it says nothing that can be read. */
export function retryAfterMs(value: string | undefined, now: Instant): DurationMs | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1_000;
  // Only dates of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT" and its two older forms.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  const at = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
