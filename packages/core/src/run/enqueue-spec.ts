import { isLimited } from "../job/run-limits.js";
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

/** Whether the policy says something that depends on the payload: a key of a limit, a label to search by. */
export function looksIntoPayload(policy: RunPolicy): boolean {
  return isLimited(policy) || policy.searchable !== undefined;
}

/** A run that somebody asks for directly, normalised. */
export interface EnqueueSpec {
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** Any JSON value; a `JsonText` may stand for it where the policy does not look into it. */
  readonly payload: unknown;
  /** null: at once. */
  readonly runAt: Instant | null;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: Dedupe;
}
