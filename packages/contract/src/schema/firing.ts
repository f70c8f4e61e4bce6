import { defaultFiringPolicy, formatDuration, misfirePolicies, overlapPolicies } from "@carillon/core";
import { Type } from "typebox";
import { DurationText } from "./scalars.js";
import { stringEnum } from "./string-enum.js";

const { misfireThresholdMs, catchupWindowMs, maxCatchupRuns, catchupPerSecond, misfire, overlap } = defaultFiringPolicy;

const Overlap = stringEnum(overlapPolicies, {
  description: `An occurrence comes due while a run of the job is live; ${overlap} by default`,
});
const Misfire = stringEnum(misfirePolicies, {
  description: `What becomes of occurrences later than misfire_threshold: the latest, none or all of them; ${misfire} by default`,
});
const CatchupLimit = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  description: `run_all: at most so many of the latest missed occurrences; ${maxCatchupRuns} by default`,
});
const CatchupRate = Type.Number({
  minimum: 0.01,
  maximum: 1_000,
  description: `Fires per second while the job catches up; ${catchupPerSecond} by default`,
});
const byDefault = (durationMs: number): string => `${formatDuration(durationMs)} by default.`;

/** What a job does about lateness and overlap, as it is asked for. */
export const firingRequest = {
  overlap: Type.Optional(Overlap),
  misfire: Type.Optional(Misfire),
  misfire_threshold: Type.Optional(
    DurationText(`Up to this lateness every occurrence fires; ${byDefault(misfireThresholdMs)}`, "60s"),
  ),
  catchup_window: Type.Optional(DurationText(`What is older is never fired; ${byDefault(catchupWindowMs)}`, "24h")),
  catchup_limit: Type.Optional(CatchupLimit),
  catchup_rate: Type.Optional(CatchupRate),
};

/** The policies in force, defaults included. */
export const firingAnswer = {
  overlap: Overlap,
  misfire: Misfire,
  misfire_threshold: Type.String({ examples: ["1m"] }),
  catchup_window: Type.String({ examples: ["1d"] }),
  catchup_limit: CatchupLimit,
  catchup_rate: CatchupRate,
};
