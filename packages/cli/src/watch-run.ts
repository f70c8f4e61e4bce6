import type { Client } from "@carillon/client";
import type { Run, RunLogQuery } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError } from "./cli-error.js";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { renderLogLine } from "./output/log-view.js";
import { progressBar, ProgressLine } from "./output/progress-line.js";
import { Absence } from "./absence.js";
import { goesOn, notOver, WaitReasons } from "./waits.js";

const LOOK_EVERY_MS = 1_000;
const LARGEST_PAGE = 1_000;

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
  const absence = new Absence(line.talking(io), { hasAnswered: false });
  const letGo = io.onInterrupt(() => line.say(goesOn(id)));
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
  const reasons = new WaitReasons({ now: () => io.now(), talk: (text) => line.say(text) });
  for (;;) {
    const run = await absence.outlive(() => client.runs.get(id));
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

interface Following {
  readonly line: ProgressLine;
  readonly absence: Absence;
}

interface LogFollowing extends Following, Pick<WatchOptions, "print" | "level"> {
  readonly signal: AbortSignal;
}

/** Until nothing more will come: also the lines that came with the run's end. */
async function followLogs(client: Client, id: string, options: LogFollowing): Promise<void> {
  const { print, level, line, absence, signal } = options;
  for (let token: string | null = null; signal.reason !== gaveUp;) {
    const query: RunLogQuery = {
      page_size: LARGEST_PAGE,
      ...(level !== undefined && { level }),
      ...(token !== null && { page_token: token }),
    };
    const page = await absence.outlive(() => followed(client, id, query, signal));
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
