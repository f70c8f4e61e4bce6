import type { RetryPolicy } from "../retry/policy.js";
import type { ScheduleSpec } from "../schedule/spec.js";
import type { DurationMs } from "../time/instant.js";
import type { FiringPolicy } from "./firing-policy.js";

/** What a job or a run carries beside its task and payload. Absent members mean the product's defaults. */
export interface RunPolicy {
  readonly retry?: Partial<RetryPolicy>;
  readonly timeoutMs?: DurationMs;
}

/** A job as the user wants it, normalised: nothing here is a wire spelling any more. */
export interface JobSpec {
  readonly key?: string;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** Any JSON value. */
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  /** Only what differs from the defaults. */
  readonly firing?: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: string;
}
