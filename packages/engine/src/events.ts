import type { DurationMs, Instant } from "@carillon/core";

/** What the engine has to say. Metrics and logs subscribe; tests wait for it. */
export type EngineEvent =
  | {
      readonly type: "run.fired";
      readonly runId: string;
      readonly jobId: string;
      readonly nominal: Instant;
      readonly lateMs: DurationMs;
    }
  | { readonly type: "occurrence.skipped"; readonly jobId: string; readonly reason: string; readonly count: number }
  | {
      readonly type: "run.claimed";
      readonly runId: string;
      readonly task: string;
      readonly queue: string;
      readonly waitedMs: DurationMs;
    }
  | {
      readonly type: "run.finished";
      readonly runId: string;
      readonly task: string;
      readonly queue: string;
      readonly status: "succeeded" | "failed" | "cancelled";
      readonly durationMs: DurationMs;
    }
  | {
      readonly type: "run.retried";
      readonly runId: string;
      readonly task: string;
      readonly queue: string;
      readonly delayMs: DurationMs;
    }
  | { readonly type: "run.rescued"; readonly count: number }
  | { readonly type: "session.expired"; readonly count: number }
  | { readonly type: "shards.gained"; readonly count: number }
  | { readonly type: "shards.lost"; readonly count: number }
  | { readonly type: "write.refused"; readonly statement: string; readonly count: number }
  | { readonly type: "loop.failed"; readonly loop: string; readonly error: unknown };

export type OnEngineEvent = (event: EngineEvent) => void;
