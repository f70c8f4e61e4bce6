import { isLimited } from "../job/run-limits.js";
import type { RunPolicy } from "../job/run-policy.js";
import type { DurationMs, Instant } from "../time/instant.js";

/** How a request for a run is handled while another run with its dedupe key exists. */
export const dedupeActions = ["ignore", "replace", "reject"] as const;

export type DedupeAction = (typeof dedupeActions)[number];

/** Deduplication: only one run of a task with the same key exists at a time. */
export interface Dedupe {
  /** Empty: the task alone is the key. */
  readonly key: string;
  readonly on: DedupeAction;
  /** How long an ended run still blocks others; null: only while it is live. */
  readonly windowMs: DurationMs | null;
}

/** Whether the policy reads the payload: for the key of a limit, or for a searchable path. */
export function readsPayload(policy: RunPolicy): boolean {
  return isLimited(policy) || policy.searchable !== undefined;
}

/** A request for a single run, normalised. */
export interface EnqueueSpec {
  readonly task: string;
  readonly queue: string;
  readonly priority: number;
  /** Any JSON value, or a `JsonText` if the policy does not read it. */
  readonly payload: unknown;
  /** null: immediately. */
  readonly runAt: Instant | null;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: string;
  readonly dedupe?: Dedupe;
}

/**
 * A JSON value of which only the text is needed: it was serialised once and is not parsed again. Inside other JSON it
 * represents its value.
 */
export class JsonText {
  /** As `JSON.stringify` writes it. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text) as unknown;
  }
}
