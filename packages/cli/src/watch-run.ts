import type { Client } from "@carillon/client";
import type { Run, RunLogLine, RunLogQuery } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError, ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { ProgressLine, progressBar } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";
import { WaitReasonReporter, detachedMessage, timeoutMessage } from "./wait-for-run.js";

const LOOK_EVERY_MS = 1_000;
const maxPageSize = 1_000;

/** Why nobody reads the log any more, although the run has not ended. */
const gaveUp = Symbol("gave up");

export interface WatchOptions {
  /** Where lines of the log go; data or talk, as the command means them. */
  readonly print: (text: string) => Promise<void>;
  readonly level?: RunLogQuery["level"];
  /** Infinity: to its end, however long that takes. */
  readonly limitMs: number;
}

/** Shows what a run logs and how far it is until it has ended. Throws with exit code 8 when the time is over. */
export async function watchRun(io: Io, client: Client, id: string, options: WatchOptions): Promise<Run> {
  const over = new AbortController();
  const line = new ProgressLine(io);
  const absence = new Reconnect(line.ioAbove(io), { hasAnswered: false });
  const letGo = io.onInterrupt(() => line.print(detachedMessage(id)));
  try {
    const [run] = await Promise.all([
      followState(io, client, id, { line, absence, limitMs: options.limitMs }).then(
        (ended) => {
          over.abort();
          return ended;
        },
        (error: unknown) => {
          over.abort(gaveUp);
          throw error;
        },
      ),
      followLogs(client, id, { ...options, line, absence, signal: over.signal }),
    ]);
    return run;
  } finally {
    letGo();
    line.clear();
  }
}

async function followState(
  io: Io,
  client: Client,
  id: string,
  { line, absence, limitMs }: Following & { readonly limitMs: number },
): Promise<Run> {
  const until = io.now() + limitMs;
  const reasons = new WaitReasonReporter({ now: () => io.now(), info: (text) => line.print(text) });
  for (;;) {
    const run = await absence.retryWhileAway(() => client.runs.get(id));
    line.show(stateOf(run));
    if (isFinal(run.status)) return run;
    if (io.now() >= until) throw new CliError(ExitCode.timedOut, timeoutMessage(run, limitMs));
    reasons.report(run);
    await io.sleep(LOOK_EVERY_MS);
  }
}

function stateOf({ id, status, attempt, max_attempts: most, progress }: Run): string {
  if (status === "running" && progress !== null) return progressBar(progress.fraction, progress.text);
  return attempt > 1 ? `${id} is ${status}, attempt ${attempt} of ${most}` : `${id} is ${status}`;
}

interface Following {
  readonly line: ProgressLine;
  readonly absence: Reconnect;
}

interface LogFollowing extends Following, Pick<WatchOptions, "print" | "level"> {
  readonly signal: AbortSignal;
}

/** Until nothing more will come: also the lines that came with the run's end. */
async function followLogs(client: Client, id: string, options: LogFollowing): Promise<void> {
  const { print, level, line, absence, signal } = options;
  for (let token: string | null = null; signal.reason !== gaveUp;) {
    const query: RunLogQuery = {
      page_size: maxPageSize,
      ...(level !== undefined && { level }),
      ...(token !== null && { page_token: token }),
    };
    const page = await absence.retryWhileAway(() => followed(client, id, query, signal));
    if (page === null) continue;
    if (page.lines.length > 0) line.clear();
    await print(page.lines.map(renderLogLine).join(""));
    token = page.next_page_token;
    if (token === null) return;
  }
}

/** Waits for lines while the run goes on; null when it ended meanwhile, and the rest is there at once. */
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

/** One line for people: when, how grave, what, and what was given beside it. */
export function renderLogLine({ at, level, message, fields }: RunLogLine): string {
  const beside = fields === null ? "" : ` ${JSON.stringify(fields)}`;
  return `${at} ${level.padEnd(5)} ${shown(message)}${beside}\n`;
}

/** What a handler wrote must not move the cursor of whoever reads it. */
function shown(message: string): string {
  // eslint-disable-next-line no-control-regex
  return message.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd").replaceAll("\n", "\n    ");
}
