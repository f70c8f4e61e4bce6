import type { ScheduleSpec } from "../schedule/spec.js";
import type { FiringPolicy } from "./firing-policy.js";
import type { RunPolicy } from "./run-policy.js";

/** A job definition, normalised: no wire spellings remain. */
export interface JobSpec {
  readonly key?: string;
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** Any JSON value. */
  readonly payload: unknown;
  readonly schedule: ScheduleSpec;
  readonly policy: RunPolicy;
  /** Only the members that differ from the defaults. */
  readonly firing?: Partial<FiringPolicy>;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: string;
}

/** A job definition as it is stored: absent members are null. */
export interface StoredSpec extends Omit<JobSpec, "key" | "owner" | "firing"> {
  readonly key: string | null;
  /** Only the members that differ from the defaults. */
  readonly firing: Partial<FiringPolicy>;
  readonly owner: string | null;
}
