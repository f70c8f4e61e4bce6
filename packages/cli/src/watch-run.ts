import type { Client } from "@carillon/client";
import type { Run, RunLogLine, RunLogQuery } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError, ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { ProgressLine, progressBar } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";
import { WaitReasonReporter, detachedMessage, timeoutMessage } from "./wait-for-run.js";

const pollMs = 1_000;
const maxPageSize = 1_000;

/** The reason of the abort when the watch ends before the run. */
const gaveUp = Symbol("gave up");

export interface WatchOptions {
  /** Prints lines of the log, as data or as messages. */
  readonly print: (text: string) => Promise<void>;
  readonly level?: RunLogQuery["level"];
  /** Infinity: to the end of the run. */
  readonly limitMs: number;
}

/** Prints the log and the progress of a run until it has ended. Throws with exit code 8 when the time is over. */
export async function watchRun(io: Io, client: Client, id: string, options: WatchOptions): Promise<Run> {
  const over = new AbortController();
  const line = new ProgressLine(io);
  const reconnect = new Reconnect(line.ioAbove(io), { hasAnswered: false });
  const removeListener = io.onInterrupt(() => line.print(detachedMessage(id)));
  try {
    const [run] = await Promise.all([
      followState(io, client, id, { line, reconnect, limitMs: options.limitMs }).then(
        (ended) => {
          over.abort();
          return ended;
        },
        (error: unknown) => {
          over.abort(gaveUp);
          throw error;
        },
      ),
      followLogs(client, id, { ...options, line, reconnect, signal: over.signal }),
    ]);
    return run;
  } finally {
    removeListener();
    line.clear();
  }
}

async function followState(
  io: Io,
  client: Client,
  id: string,
  { line, reconnect, limitMs }: LogWatch & { readonly limitMs: number },
): Promise<Run> {
  const until = io.now() + limitMs;
  const reasons = new WaitReasonReporter({ now: () => io.now(), info: (text) => line.print(text) });
  for (;;) {
    const run = await reconnect.retryWhileAway(() => client.runs.get(id));
    line.show(stateOf(run));
    if (isFinal(run.status)) return run;
    if (io.now() >= until) throw new CliError(ExitCode.timedOut, timeoutMessage(run, limitMs));
    reasons.report(run);
    await io.sleep(pollMs);
  }
}

function stateOf({ id, status, attempt, max_attempts: most, progress }: Run): string {
  if (status === "running" && progress !== null) return progressBar(progress.fraction, progress.text);
  return attempt > 1 ? `${id} is ${status}, attempt ${attempt} of ${most}` : `${id} is ${status}`;
}

interface LogWatch {
  readonly line: ProgressLine;
  readonly reconnect: Reconnect;
}

interface LogWatchOptions extends LogWatch, Pick<WatchOptions, "print" | "level"> {
  readonly signal: AbortSignal;
}

/** Reads until the log is complete, including the lines that were stored with the run's end. */
async function followLogs(client: Client, id: string, options: LogWatchOptions): Promise<void> {
  const { print, level, line, reconnect, signal } = options;
  for (let token: string | null = null; signal.reason !== gaveUp;) {
    const query: RunLogQuery = {
      page_size: maxPageSize,
      ...(level !== undefined && { level }),
      ...(token !== null && { page_token: token }),
    };
    const page = await reconnect.retryWhileAway(() => followed(client, id, query, signal));
    if (page === null) continue;
    if (page.lines.length > 0) line.clear();
    await print(page.lines.map(renderLogLine).join(""));
    token = page.next_page_token;
    if (token === null) return;
  }
}

/** Waits for lines while the run goes on; null if the run ended meanwhile: the rest can then be read without waiting. */
async function followed(client: Client, id: string, query: RunLogQuery, signal: AbortSignal) {
  if (signal.reason === gaveUp) return null;
  if (signal.aborted) return client.runs.logs(id, query);
  try {
    return await client.runs.logs(id, { ...query, follow: "true" }, { signal });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** One line for people: time, level, message, fields. */
export function renderLogLine({ at, level, message, fields }: RunLogLine): string {
  const beside = fields === null ? "" : ` ${JSON.stringify(fields)}`;
  return `${at} ${level.padEnd(5)} ${shown(message)}${beside}\n`;
}

/** A handler's message must not move the cursor of the reader's terminal. */
function shown(message: string): string {
  // eslint-disable-next-line no-control-regex
  return message.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd").replaceAll("\n", "\n    ");
}
