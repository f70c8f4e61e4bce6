import { CarillonError, type DurationMs } from "@carillon/core";
import { backoffMs, pause } from "./backoff.js";
import type { Database } from "./database.js";
import { openDatabase } from "./open-database.js";
import type { DatabaseOptions } from "./options.js";

export interface WaitOptions {
  /** How long to go on trying. */
  readonly deadlineMs: DurationMs;
  /** Called before each wait, with what is wrong and how long the wait may still last. */
  readonly onWait?: (message: string, leftMs: DurationMs) => void;
  /** Ends the waiting early. */
  readonly signal?: AbortSignal;
}

/**
 * Opens the database, waiting for one that cannot be reached yet. What waiting cannot mend (a wrong password, a server
 * that is too old) is thrown at once.
 */
export async function waitForDatabase(options: DatabaseOptions, wait: WaitOptions): Promise<Database> {
  const { clock, timers, random } = options;
  const deadline = clock.monotonic() + wait.deadlineMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await openDatabase(options);
    } catch (error) {
      if (!(error instanceof CarillonError) || error.code !== "database_unavailable") throw error;
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0 || wait.signal?.aborted === true) throw gaveUp(error, wait.deadlineMs);
      wait.onWait?.(error.message, leftMs);
      await pause(Math.min(leftMs, backoffMs(attempt, random)), timers, wait.signal);
    }
  }
}

function gaveUp(last: CarillonError, deadlineMs: DurationMs): CarillonError {
  const seconds = Math.round(deadlineMs / 1000);
  return new CarillonError("database_unavailable", `Gave up after ${seconds} s. ${last.message}`, { cause: last });
}
