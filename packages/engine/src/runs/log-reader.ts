import { type Clock, type DurationMs, isFinal, logLevels, timeOfUuid, type Timers } from "@carillon/core";
import type { LogPage, LogRequest } from "./run-logs.js";
import type { RunLogStore } from "@carillon/store";
import { clockSlackMs, type RunReader } from "./run-reader.js";

export interface LogReaderOptions {
  readonly logs: RunLogStore;
  readonly runs: Pick<RunReader, "find">;
  readonly timers: Timers;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Lines come from any node: whoever waits for them looks this often. */
const lookEveryMs: DurationMs = 500;
const beginning = { fence: 0, number: 0 };

/** Reads what a run logged, and waits for more of it. */
export class LogReader {
  readonly #options: LogReaderOptions;

  constructor(options: LogReaderOptions) {
    this.#options = options;
  }

  async read(namespaceId: number, runId: string, request: LogRequest): Promise<LogPage | null> {
    const { clock } = this.#options;
    const { waitMs = 0, signal } = request;
    const until = clock.monotonic() + waitMs;
    for (;;) {
      const page = await this.#look(namespaceId, runId, request);
      const leftMs = until - clock.monotonic();
      if (page === null || page.lines.length > 0 || page.isEnd || leftMs <= 0 || signal?.aborted) return page;
      await this.#wait(Math.min(lookEveryMs, leftMs), signal);
    }
  }

  /** The run first: what it logged before it ended is there when its end is. */
  async #look(namespaceId: number, runId: string, request: LogRequest): Promise<LogPage | null> {
    const { logs, runs } = this.#options;
    const run = await runs.find(namespaceId, runId);
    if (run === null) return null;
    const { pageSize, after = beginning, level = "debug" } = request;
    const found = await logs.lines({
      namespaceId,
      runId,
      after,
      limit: pageSize + 1,
      notBefore: Math.max(0, Math.min(timeOfUuid(runId), run.createdAt) - clockSlackMs),
      levels: logLevels.slice(logLevels.indexOf(level)),
    });
    const hasMore = found.length > pageSize;
    return { lines: found.slice(0, pageSize), hasMore, isEnd: isFinal(run.status) && !hasMore };
  }

  #wait(delayMs: DurationMs, signal: AbortSignal | undefined): Promise<void> {
    const { timers } = this.#options;
    return new Promise((resolve) => {
      const end = (): void => {
        timers.clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = timers.setTimeout(end, delayMs);
      signal?.addEventListener("abort", end);
    });
  }
}
