import type { Instant, RunPolicy } from "@carillon/core";

/** A run that was asked for directly. */
export interface NewRun {
  readonly id: string;
  readonly jobId: string | null;
  readonly namespaceId: number;
  readonly shard: number;
  readonly lane: number;
  readonly priority: number;
  readonly rank: number;
  readonly runAt: Instant;
  readonly nominal: Instant;
  readonly trigger: string;
  readonly task: string;
  readonly queue: string;
  readonly payload: unknown;
  readonly policy: RunPolicy;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string | null;
  readonly deadline?: Instant | null;
}
