import { type Instant, maxDurationMs } from "@carillon/core";
import { type Static, type TObject, Type } from "typebox";
import type { Findings } from "../check/findings.js";
import { DurationText, InstantText, readDuration, readInstant, Reason } from "../fields.js";
import { atMostOne, type MemberRules } from "../rules.js";

const lengthBounds = { minMs: 1, maxMs: maxDurationMs };

/** The fields that pauses of jobs and of queues share. */
export const pauseFields = {
  reason: Type.Optional(Reason),
  until: Type.Optional(InstantText("The pause ends at this instant")),
  for: Type.Optional(DurationText("The pause ends after this time.", "2h", lengthBounds)),
};

/** Rules between them. */
export const pauseRules = {
  allOf: [atMostOne(["until", "for"])],
  "x-carillon-rules": [{ code: "field_invalid", rule: "until lies in the future" }],
} as const satisfies MemberRules;

/** When a pause ends by itself; null: never. */
export function pauseEnd(
  { until, for: length }: Static<TObject<typeof pauseFields>>,
  now: Instant,
  findings: Findings,
): Instant | null {
  if (until !== undefined && length !== undefined) {
    findings.add("/for", "field_invalid", "Means the same as /until. Send only one of them.");
  }
  if (length !== undefined) {
    const lengthMs = readDuration(length, "/for", findings);
    if (lengthMs === 0) findings.add("/for", "duration_invalid", "A pause must be longer than zero.");
    return lengthMs === undefined ? null : now + lengthMs;
  }
  const end = readInstant(until, "/until", findings);
  if (end !== undefined && end <= now) {
    const detail = "Lies in the past. Send a later instant, or none for a pause without an end.";
    findings.add("/until", "field_invalid", detail);
  }
  return end ?? null;
}
