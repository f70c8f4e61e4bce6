import type { DurationMs, LogLevel } from "@carillon/core";
import type { LinePlace, RunLine } from "@carillon/store";

export interface LogRequest {
  readonly pageSize: number;
  readonly after?: LinePlace;
  /** This level and those above. */
  readonly level?: LogLevel;
  /** If there is nothing after the place, waits so long for more, unless the run has ended. */
  readonly waitMs?: DurationMs;
  readonly signal?: AbortSignal;
}

export interface LogPage {
  readonly lines: readonly RunLine[];
  /** Nothing more will come after these lines. */
  readonly isEnd: boolean;
  /** There are more lines now. */
  readonly hasMore: boolean;
}

export interface RunLogs {
  /** Null: there is no such run. */
  readLogs(namespace: string, runId: string, request: LogRequest): Promise<LogPage | null>;
}
