import type { Client } from "@carillon/client";
import type { Run, RunLogQuery } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError } from "./cli-error.js";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { renderLogLine } from "./output/log-view.js";
import { progressBar, ProgressLine } from "./output/progress-line.js";
import { notOver, WaitReasons } from "./waits.js";

const LOOK_EVERY_MS = 1_000;
const LARGEST_PAGE = 1_000;

export interface WatchOptions {
  /** Where lines of the log go; data or talk, as the command means them. */
  readonly print: (text: string) => Promise<void>;
  readonly level?: RunLogQuery["level"];
  readonly limitMs: number;
}

/** Shows what a run logs and how far it is until it has ended. Throws with exit code 8 when the time is over. */
export async function watchRun(io: Io, client: Client, id: string, options: WatchOptions): Promise<Run> {
  const over = new AbortController();
  const line = new ProgressLine(io);
  const [run] = await Promise.all([
    followState(io, client, id, { line, limitMs: options.limitMs }).finally(() => over.abort()),
    followLogs(client, id, { ...options, line, signal: over.signal }),
  ]);
  line.clear();
  return run;
}

async function followState(
  io: Io,
  client: Client,
  id: string,
  { line, limitMs }: { readonly line: ProgressLine; readonly limitMs: number },
): Promise<Run> {
  const until = io.now() + limitMs;
  const reasons = new WaitReasons({ now: () => io.now(), talk: (text) => line.say(text) });
  for (;;) {
    const run = await client.runs.get(id);
    line.show(stateOf(run));
    if (isFinal(run.status)) return run;
    if (io.now() >= until) throw new CliError(ExitCode.timedOut, notOver(run, limitMs));
    reasons.see(run);
    await io.sleep(LOOK_EVERY_MS);
  }
}

function stateOf({ id, status, attempt, max_attempts: most, progress }: Run): string {
  if (status === "running" && progress !== null) return progressBar(progress.fraction, progress.text);
  return attempt > 1 ? `${id} is ${status}, attempt ${attempt} of ${most}` : `${id} is ${status}`;
}

interface LogFollowing extends Pick<WatchOptions, "print" | "level"> {
  readonly line: ProgressLine;
  readonly signal: AbortSignal;
}

/** Until nothing more will come: also the lines that came with the run's end. */
async function followLogs(client: Client, id: string, { print, level, line, signal }: LogFollowing): Promise<void> {
  for (let token: string | null = null; ;) {
    const query: RunLogQuery = {
      page_size: LARGEST_PAGE,
      ...(level !== undefined && { level }),
      ...(token !== null && { page_token: token }),
    };
    const page = await followed(client, id, query, signal);
    if (page === null) continue;
    if (page.lines.length > 0) line.clear();
    await print(page.lines.map(renderLogLine).join(""));
    token = page.next_page_token;
    if (token === null) return;
  }
}

/** Waits for lines while the run goes on; null when it ended meanwhile, and the rest is there at once. */
async function followed(client: Client, id: string, query: RunLogQuery, signal: AbortSignal) {
  if (signal.aborted) return client.runs.logs(id, query);
  try {
    return await client.runs.logs(id, { ...query, follow: "true" }, { signal });
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
