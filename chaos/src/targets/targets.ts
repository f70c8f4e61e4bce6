import { bruteForceFires } from "../../../packages/core/test/oracle/brute-force-fires.js";
import type { ChaosJob, Rule } from "../plan/workload.js";

/** What became of the request that made a job; the instants are those of the caller. */
export interface Acknowledgement {
  readonly job: ChaosJob;
  readonly sentAt: number;
  /** Null when the call ended unknown: the job may exist or not. */
  readonly acknowledgedAt: number | null;
}

/** An instant at which a job is to run. What lies between request and answer, or was never answered, is optional. */
export interface Target {
  readonly job: string;
  readonly nominal: number;
  readonly required: boolean;
}

/** What the acknowledged schedules promise, found without any code of the engine. */
export function targetsOf({ job, sentAt, acknowledgedAt }: Acknowledgement): Target[] {
  return instantsOf(job.rule, sentAt).map((nominal) => ({
    job: job.key,
    nominal,
    required: acknowledgedAt !== null && (job.rule.kind === "at" || nominal > acknowledgedAt),
  }));
}

/** Every instant after the request up to the rule's end; the one instant of a one-off counts also when it has passed. */
function instantsOf(rule: Rule, after: number): number[] {
  if (rule.kind === "at") return [rule.at];
  if (rule.kind === "cron") {
    return bruteForceFires({ expression: rule.cron, timeZone: rule.timeZone }, after, rule.endsAt);
  }
  const instants: number[] = [];
  for (let at = rule.startsAt; at <= rule.endsAt; at += rule.everyMs) if (at > after) instants.push(at);
  return instants;
}
