import type { DurationMs, Instant, LogLevel } from "@carillon/core";

/** Where a line stands in the log of its run: attempts follow one another, and so do the lines of each. */
export interface LinePlace {
  readonly fence: number;
  readonly number: number;
}

export interface RunLine extends LinePlace {
  readonly at: Instant;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: unknown;
}

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
