import { type Instant, type MissedChoice, parseDuration, parseInstant, type RunPolicy } from "@carillon/core";
import type { Findings } from "../check/findings.js";
import { JobCancel, JobPause, JobResume, JobRollback, JobRunNow } from "../schema/job-verbs.js";
import { readBody } from "./body.js";
import { ownSpelling } from "./own-spelling.js";
import { runPolicy } from "./run-policy.js";

export interface PauseRequest {
  readonly reason: string | null;
  readonly until: Instant | null;
  readonly missed: MissedChoice;
}

export function readPause(body: unknown, now: Instant): PauseRequest {
  return readBody(JobPause, body, (pause, findings) => ({
    reason: pause.reason ?? null,
    until: pauseEnd(pause, now, findings),
    missed: pause.missed ?? "none",
  }));
}

/** When a pause is over by itself; null: never. */
export function pauseEnd(
  { until, for: length }: Pick<JobPause, "until" | "for">,
  now: Instant,
  findings: Findings,
): Instant | null {
  if (until !== undefined && length !== undefined) {
    findings.add("/for", "field_invalid", "says the same as /until; send one of them");
  }
  if (length !== undefined) {
    const lengthMs = findings.attempt("/for", () => parseDuration(length));
    if (lengthMs === 0) findings.add("/for", "duration_invalid", "a pause is longer than nothing");
    return lengthMs === undefined ? null : now + lengthMs;
  }
  const end = until === undefined ? undefined : findings.attempt("/until", () => parseInstant(until));
  if (end !== undefined && end <= now) {
    findings.add(
      "/until",
      "field_invalid",
      "lies in the past; give a later instant, or none for a pause without an end",
    );
  }
  return end ?? null;
}

export interface ResumeRequest {
  readonly missed?: MissedChoice;
  readonly dryRun: boolean;
}

export function readResume(body: unknown): ResumeRequest {
  return readBody(JobResume, body, ({ missed, dry_run: dryRun = false }) => ({
    ...(missed !== undefined && { missed }),
    dryRun,
  }));
}

export interface CancelRequest {
  readonly running: "signal" | "keep";
  readonly dependants: "refuse" | "detach";
}

export function readCancel(body: unknown): CancelRequest {
  return readBody(JobCancel, body, ({ running = "signal", dependants = "refuse" }) => ({ running, dependants }));
}

export function readRollback(body: unknown): number {
  return readBody(JobRollback, body, ({ version = 0 }) => version);
}

/** Absent members are the job's. */
export interface RunNowRequest {
  readonly payload?: { readonly value: unknown };
  readonly priority?: number;
  readonly queue?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly policy?: RunPolicy;
  readonly force?: boolean;
}

export function readRunNow(body: unknown): RunNowRequest {
  return readBody(JobRunNow, body, (given, findings) => {
    const { priority, queue, labels, retry, timeout, deadline, force } = given;
    const own = ownSpelling({ ...(retry && { retry }) }, findings);
    const policy = runPolicy(
      own,
      { ...(timeout !== undefined && { timeout }), ...(deadline !== undefined && { deadline }) },
      findings,
    );
    return {
      ...(Object.hasOwn(given, "payload") && { payload: { value: given.payload } }),
      ...(priority !== undefined && { priority }),
      ...(queue !== undefined && { queue }),
      ...(labels !== undefined && { labels }),
      ...(Object.keys(policy).length > 0 && { policy }),
      ...(force !== undefined && { force }),
    };
  });
}
