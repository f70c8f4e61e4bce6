import { formatDuration, type Instant, parseDuration, parseInstant } from "@carillon/core";
import { RunReschedule } from "../schema/run-course.js";
import { readBody } from "./body.js";
import type { Moment } from "./job-request.js";

const defaultCatchupWindowMs = 86_400_000;

/** When a run is to run instead. */
export function readReschedule(body: unknown, { now, catchupWindowMs = defaultCatchupWindowMs }: Moment): Instant {
  return readBody(RunReschedule, body, ({ at, delay }, findings) => {
    if ((at === undefined) === (delay === undefined)) {
      findings.add("", "field_invalid", "say when by one of at and delay");
      return now;
    }
    if (delay !== undefined) return now + (findings.attempt("/delay", () => parseDuration(delay)) ?? 0);
    const instant = at === undefined ? now : (findings.attempt("/at", () => parseInstant(at)) ?? now);
    if (instant < now - catchupWindowMs) {
      findings.add("/at", "schedule_in_past", `lies more than ${formatDuration(catchupWindowMs)} in the past`);
    }
    return instant;
  });
}
