import {
  defaultFiringPolicy,
  type FiringPolicy,
  formatDuration,
  misfirePolicies,
  overlapPolicies,
  ownFiring,
  present,
} from "@carillon/core";
import { type Static, type TObject, Type } from "typebox";
import type { Findings } from "../check/findings.js";
import { DurationText, readDuration, stringEnum, WholeNumber } from "../fields.js";

const Overlap = stringEnum(overlapPolicies, {
  description: `What happens to an occurrence that is due while a run of the job is live; ${defaultFiringPolicy.overlap} by default`,
});

const Misfire = stringEnum(misfirePolicies, {
  description: `Which occurrences that are later than misfire_threshold still fire: the latest, none or all; ${defaultFiringPolicy.misfire} by default`,
});

const CatchupLimit = WholeNumber(
  1,
  10_000,
  `For run_all: the largest number of missed occurrences that fire, the latest ones; ${defaultFiringPolicy.maxCatchupRuns} by default`,
);

const CatchupRate = Type.Number({
  minimum: 0.01,
  maximum: 1_000,
  description: `Fires per second while the job catches up; ${defaultFiringPolicy.catchupPerSecond} by default`,
});

const byDefault = (durationMs: number): string => `${formatDuration(durationMs)} by default.`;

const dayMs = 86_400_000;

/** Below a second every fire would be late. */
const thresholdBounds = { minMs: 1_000, maxMs: 30 * dayMs };
const windowBounds = { minMs: 0, maxMs: 366 * dayMs };

/** What a job does about lateness and overlap, in requests. */
export const firingRequest = {
  overlap: Type.Optional(Overlap),
  misfire: Type.Optional(Misfire),
  misfire_threshold: Type.Optional(
    DurationText(
      `An occurrence that is late by at most this always fires; ${byDefault(defaultFiringPolicy.misfireThresholdMs)}`,
      "60s",
      thresholdBounds,
    ),
  ),
  catchup_window: Type.Optional(
    DurationText(
      `An older occurrence never fires; ${byDefault(defaultFiringPolicy.catchupWindowMs)}`,
      "24h",
      windowBounds,
    ),
  ),
  catchup_limit: Type.Optional(CatchupLimit),
  catchup_rate: Type.Optional(CatchupRate),
};

/** The same in answers, defaults included. */
export const firingAnswer = {
  overlap: Overlap,
  misfire: Misfire,
  misfire_threshold: Type.String({ examples: ["1m"] }),
  catchup_window: Type.String({ examples: ["1d"] }),
  catchup_limit: CatchupLimit,
  catchup_rate: CatchupRate,
};

/**
 * The policies that differ from the defaults. A misfire policy in the request is kept even if it is the default: a caller who sends
 * run_once with an instant far in the past wants it to run.
 */
export function readFiring(body: Static<TObject<typeof firingRequest>>, findings: Findings): Partial<FiringPolicy> {
  const { overlap, misfire, catchup_limit: maxCatchupRuns, catchup_rate: catchupPerSecond } = body;
  const misfireThresholdMs = readDuration(body.misfire_threshold, "/misfire_threshold", findings, thresholdBounds);
  const catchupWindowMs = readDuration(body.catchup_window, "/catchup_window", findings, windowBounds);
  const own = ownFiring(present({ overlap, misfireThresholdMs, catchupWindowMs, maxCatchupRuns, catchupPerSecond }));
  return { ...own, ...(misfire !== undefined && { misfire }) };
}
