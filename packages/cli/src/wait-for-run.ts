import type { Client } from "@carillon/client";
import type { Job, Run, RunLogLine, RunLogQuery } from "@carillon/contract";
import { isFinal, parseDuration } from "@carillon/core";
import type { Command } from "commander";
import { Reconnect } from "./client.js";
import { type Invocation, textOption } from "./command.js";
import { CliError, ExitCode } from "./exit-codes.js";
import { durationWithin } from "./flags.js";
import type { Io } from "./io.js";
import { progressBar, ProgressLine } from "./progress-line.js";

const firstPauseMs = 50;
const maxPauseMs = 1_000;

/** Polls, with growing pauses, until the job's run has ended or the time is over. */
export async function waitForJobRun(io: Io, client: Client, jobId: string, limitMs: number): Promise<Job> {
  return waitFor(io, {
    id: jobId,
    limitMs,
    read: () => client.jobs.get(jobId),
    runOf: (job) => job.run,
    nameOf: (job) => job.run ?? job,
  });
}

/** The same for a run by its own id. */
export async function waitForRun(io: Io, client: Client, runId: string, limitMs: number): Promise<Run> {
  return waitFor(io, {
    id: runId,
    limitMs,
    read: () => client.runs.get(runId),
    runOf: (run) => run,
    nameOf: (run) => run,
  });
}

interface Wait<Seen> {
  readonly id: string;
  readonly limitMs: number;
  readonly read: () => Promise<Seen>;
  /** The run, once there is one. */
  readonly runOf: (seen: Seen) => Run | undefined;
  /** What the error names if it has not ended in time. */
  readonly nameOf: (seen: Seen) => WaitedFor;
}

async function waitFor<Seen>(io: Io, { id, limitMs, read, runOf, nameOf }: Wait<Seen>): Promise<Seen> {
  const since = io.now();
  const line = new ProgressLine(io);
  const above = line.ioAbove(io);
  const reasons = new WaitReasonReporter(above);
  const reconnect = new Reconnect(above, { hasAnswered: true });
  const removeListener = io.onInterrupt(() => line.print(detachedMessage(id)));
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const seen = await reconnect.retryWhileAway(read);
      const run = runOf(seen);
      if (run !== undefined && isFinal(run.status)) return seen;
      const waitedMs = io.now() - since;
      if (waitedMs >= limitMs) throw new CliError(ExitCode.timedOut, timeoutMessage(nameOf(seen), limitMs));
      if (run !== undefined) reasons.report(run);
      // Only a terminal shows progress.
      if (io.stderrIsTerminal) line.show(`${id} is ${nameOf(seen).status}, ${Math.floor(waitedMs / 1_000)} s`);
      await io.sleep(pauseMs);
    }
  } finally {
    removeListener();
    line.clear();
  }
}

/** The exit code of a command that waited for a run. */
export function exitCodeOfRun({ status }: Pick<Run, "status">): ExitCode {
  if (status === "succeeded") return ExitCode.ok;
  return status === "cancelled" ? ExitCode.cancelled : ExitCode.runFailed;
}

const defaultWait = "60s";
const waitTimeout = durationWithin("1s", "31d");

/** Adds --wait and how long. */
export function withWait(command: Command): Command {
  return command
    .option(
      "--wait",
      "wait until its run has ended; exit code 6 if it failed, 7 if cancelled, 8 if it has not ended in time",
    )
    .option("--wait-timeout <duration>", "how long --wait waits", waitTimeout, defaultWait);
}

/** Adds how long to watch, which is to the end unless a time is given. */
export function withWatchLimit(command: Command): Command {
  return command.option("--wait-timeout <duration>", "how long to watch (default: to its end)", waitTimeout);
}

/** Infinity: no time was given, and the command has no default. */
export function waitLimitMs(invocation: Invocation): number {
  const text = textOption(invocation, "waitTimeout");
  return text === undefined ? Number.POSITIVE_INFINITY : parseDuration(text);
}

/** Most runs start earlier than this, and need no explanation. */
const explainAfterMs = 2_000;

/** Prints, once for each reason, why the awaited run does not run. */
class WaitReasonReporter {
  readonly #io: Pick<Io, "info" | "now">;
  readonly #since: number;
  #reported = "";

  constructor(io: Pick<Io, "info" | "now">) {
    this.#io = io;
    this.#since = io.now();
  }

  report({ id, waiting_on: reason }: Pick<Run, "id" | "waiting_on">): void {
    if (!reason || reason.code === this.#reported || this.#io.now() - this.#since < explainAfterMs) return;
    this.#reported = reason.code;
    this.#io.info(`carillon: ${id} waits: ${reason.detail}`);
  }
}

/** The state of an awaited run, or of a job without a run yet. */
interface WaitedFor {
  readonly id: string;
  readonly status: string;
  readonly waiting_on?: Run["waiting_on"];
}

/** Printed when the user stops waiting: the run does not stop. */
const detachedMessage = (id: string): string => `carillon: ${id} ${detachedHint(id)}`;

function detachedHint(id: string): string {
  const [again, end] = id.startsWith("job_") ? ["why", "job cancel"] : ["run watch", "run cancel"];
  return `goes on in the server; see it again with: carillon ${again} ${id}; end it with: carillon ${end} ${id}`;
}

/** The error of a wait that took too long. */
function timeoutMessage({ id, status, waiting_on: reason }: WaitedFor, limitMs: number): string {
  const why = reason ? `: ${reason.detail}` : "";
  return `${id} is ${status} after ${limitMs / 1_000} s${why}; it ${detachedHint(id)}`;
}

const pollMs = 1_000;
const maxPageSize = 1_000;

/** The reason of the abort when the watch ends before the run. */
const gaveUp = Symbol("gave up");

interface WatchOptions {
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
