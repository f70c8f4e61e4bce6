import { type FiringPolicy, ownFiring, parseDuration } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import type { JobCreate } from "../schema/job-create.js";

const secondMs = 1_000;
const dayMs = 86_400_000;

/** Below a second every fire would count as late. */
const thresholdBounds = { least: secondMs, most: 30 * dayMs, words: "from 1s to 30d" };
const windowBounds = { least: 0, most: 366 * dayMs, words: "at most 366d" };

/**
 * The policies that differ from the defaults. A misfire policy that was said is kept even if it is the default: who says
 * run_once of an instant long past means it.
 */
export function firingOf(body: JobCreate, findings: Findings): Partial<FiringPolicy> {
  const { overlap, misfire, catchup_limit: maxCatchupRuns, catchup_rate: catchupPerSecond } = body;
  const misfireThresholdMs = bounded(body.misfire_threshold, "/misfire_threshold", thresholdBounds, findings);
  const catchupWindowMs = bounded(body.catchup_window, "/catchup_window", windowBounds, findings);
  const own = ownFiring({
    ...(overlap !== undefined && { overlap }),
    ...(misfireThresholdMs !== undefined && { misfireThresholdMs }),
    ...(catchupWindowMs !== undefined && { catchupWindowMs }),
    ...(maxCatchupRuns !== undefined && { maxCatchupRuns }),
    ...(catchupPerSecond !== undefined && { catchupPerSecond }),
  });
  return { ...own, ...(misfire !== undefined && { misfire }) };
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly words: string;
}

function bounded(text: string | undefined, pointer: string, bounds: Bounds, findings: Findings): number | undefined {
  if (text === undefined) return undefined;
  const durationMs = findings.attempt(pointer, () => parseDuration(text));
  if (durationMs !== undefined && (durationMs < bounds.least || durationMs > bounds.most)) {
    findings.add(pointer, "duration_invalid", `must be ${bounds.words}`);
  }
  return durationMs;
}
