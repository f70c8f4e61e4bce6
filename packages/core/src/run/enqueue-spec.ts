import type { RunPolicy } from "../job/run-policy.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** What becomes of a run that is asked for while another one of its dedupe key counts. */
export const dedupeActions = ["ignore", "replace", "reject"] as const;

export type DedupeAction = (typeof dedupeActions)[number];

/** Business identity: of the runs of one task with the same key, one counts. */
export interface Dedupe {
  /** Empty: the task alone is the identity. */
  readonly key: string;
  readonly on: DedupeAction;
  /** How long an ended run still counts; null: only while it is live. */
  readonly windowMs: DurationMs | null;
}

/** A run that somebody asks for directly, normalised. */
export interface EnqueueSpec {
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** Any JSON value. */
  readonly payload: unknown;
  /** null: at once. */
  readonly runAt: Instant | null;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: Dedupe;
}
