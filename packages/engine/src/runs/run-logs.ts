import { type DurationMs, isFinal, type LogLevel, logLevels, timeOfUuid } from "@carillon/core";
import { clockSlackMs, type LinePlace, type RunLine } from "@carillon/store";
import type { EngineContext } from "../context.js";
import type { RunReader } from "./run-reader.js";

export interface LogRequest {
  readonly pageSize: number;
  readonly after?: LinePlace;
  /** This level and those above. */
  readonly level?: LogLevel;
  /** If there are no lines after the place, waits this long for more, unless the run has ended. */
  readonly waitMs?: DurationMs;
  readonly signal?: AbortSignal;
}

export interface LogPage {
  readonly lines: readonly RunLine[];
  /** The run has ended: no line follows these. */
  readonly isEnd: boolean;
  /** There are more lines now. */
  readonly hasMore: boolean;
}

type LogContext = {
  readonly store: Pick<EngineContext["store"], "logs">;
  readonly timers: EngineContext["timers"];
  readonly clock: Pick<EngineContext["clock"], "monotonic">;
};

/** Any node may write the lines: a waiting reader reads them this often. */
const pollMs: DurationMs = 500;
const beginning = { fence: 0, number: 0 };

/** Reads the log of a run, and waits for more of it. */
export class LogReader {
  readonly #context: LogContext;
  readonly #runs: Pick<RunReader, "find">;

  constructor(context: LogContext, runs: Pick<RunReader, "find">) {
    this.#context = context;
    this.#runs = runs;
  }

  async read(namespaceId: number, runId: string, request: LogRequest): Promise<LogPage | null> {
    const { clock } = this.#context;
    const { waitMs = 0, signal } = request;
    const until = clock.monotonic() + waitMs;
    for (;;) {
      const page = await this.#page(namespaceId, runId, request);
      const leftMs = until - clock.monotonic();
      if (page === null || page.lines.length > 0 || page.isEnd || leftMs <= 0 || signal?.aborted) return page;
      await this.#wait(Math.min(pollMs, leftMs), signal);
    }
  }

  /** Reads the run first: once a run has ended, all lines that it logged are stored. */
  async #page(namespaceId: number, runId: string, request: LogRequest): Promise<LogPage | null> {
    const run = await this.#runs.find(namespaceId, runId);
    if (run === null) return null;
    const { pageSize, after = beginning, level = "debug" } = request;
    const found = await this.#context.store.logs.lines({
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
    const { timers } = this.#context;
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
