import type { Instant } from "@carillon/core";

/** An instant as a timestamptz parameter. A Date would be written in the host's time zone, digit by digit. */
export function timestampParam(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** A value as a json or jsonb parameter; absent is null. Unstringified, pg would send a JS array as a PostgreSQL array. */
export function jsonParam(value: unknown): string {
  return JSON.stringify(value ?? null);
}
