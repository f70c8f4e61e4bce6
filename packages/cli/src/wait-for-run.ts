import type { Client } from "@carillon/client";
import type { Job, Run } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import type { Command } from "commander";
import type { Invocation } from "./command.js";
import { CliError, ExitCode } from "./exit-codes.js";
import { wholeNumber } from "./flags.js";
import type { Io } from "./io.js";
import { ProgressLine } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";

const firstPauseMs = 50;
const maxPauseMs = 1_000;

/** Asks, ever less often, until the job's run has ended or the time is over. */
export async function waitForJobRun(io: Io, client: Client, jobId: string, limitMs: number): Promise<Job> {
  return waitFor(io, {
    id: jobId,
    limitMs,
    read: () => client.jobs.get(jobId),
    runOf: (job) => job.run,
    nameOf: (job) => job.run ?? job,
  });
}

/** The same for a run that is known by its own id. */
export async function waitForRun(io: Io, client: Client, runId: string, limitMs: number): Promise<Run> {
  return waitFor(io, {
    id: runId,
    limitMs,
    read: () => client.runs.get(runId),
    runOf: (run) => run,
    nameOf: (run) => run,
  });
}

interface Awaiting<Seen> {
  readonly id: string;
  readonly limitMs: number;
  readonly read: () => Promise<Seen>;
  /** The run, once there is one. */
  readonly runOf: (seen: Seen) => Run | undefined;
  /** What is named when it was not over in time. */
  readonly nameOf: (seen: Seen) => WaitedFor;
}

async function waitFor<Seen>(io: Io, { id, limitMs, read, runOf, nameOf }: Awaiting<Seen>): Promise<Seen> {
  const since = io.now();
  const line = new ProgressLine(io);
  const talking = line.ioAbove(io);
  const reasons = new WaitReasonReporter(talking);
  const absence = new Reconnect(talking, { hasAnswered: true });
  const letGo = io.onInterrupt(() => line.print(detachedMessage(id)));
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const seen = await absence.retryWhileAway(read);
      const run = runOf(seen);
      if (run !== undefined && isFinal(run.status)) return seen;
      const waitedMs = io.now() - since;
      if (waitedMs >= limitMs) throw new CliError(ExitCode.timedOut, timeoutMessage(nameOf(seen), limitMs));
      if (run !== undefined) reasons.report(run);
      // Elsewhere than on a terminal nobody looks before the end.
      if (io.stderrIsTerminal) line.show(`${id} is ${nameOf(seen).status}, ${Math.floor(waitedMs / 1_000)} s`);
      await io.sleep(pauseMs);
    }
  } finally {
    letGo();
    line.clear();
  }
}

/** How an awaited run that has ended shows in the exit code. */
export function exitCodeOfRun({ status }: Pick<Run, "status">): ExitCode {
  if (status === "succeeded") return ExitCode.ok;
  return status === "cancelled" ? ExitCode.cancelled : ExitCode.runFailed;
}

const DEFAULT_WAIT_S = 60;
/** Nobody watches for longer than a month. */
const maxWaitS = 2_678_400;

/** Adds --wait and how long. */
export function withWait(command: Command): Command {
  return withWaitSeconds(
    command.option(
      "--wait",
      "wait until its run has ended; exit code 6 if it failed, 7 if cancelled, 8 if not over in time",
    ),
    "how long --wait waits",
    DEFAULT_WAIT_S,
  );
}

function withWaitSeconds(command: Command, doc: string, usual?: number): Command {
  return command.option("--wait-seconds <number>", doc, wholeNumber(1, maxWaitS), usual);
}

/** Who watches does so to the end, unless they say how long. */
export function withWatchLimit(command: Command): Command {
  return withWaitSeconds(command, "how long to watch (default: to its end)");
}

/** Without end where nothing was said and nothing is usual. */
export function waitLimitMs({ options }: Invocation): number {
  const seconds = options["waitSeconds"];
  return (typeof seconds === "number" ? seconds : Number.POSITIVE_INFINITY) * 1_000;
}

/** Somebody who waits is told why after so long; before that it is likely to begin. */
const SAID_AFTER_MS = 2_000;

/** Says, once for each reason, why a run that is waited for does not run. */
export class WaitReasonReporter {
  readonly #io: Pick<Io, "info" | "now">;
  readonly #since: number;
  #said = "";

  constructor(io: Pick<Io, "info" | "now">) {
    this.#io = io;
    this.#since = io.now();
  }

  report({ id, waiting_on: reason }: Pick<Run, "id" | "waiting_on">): void {
    if (!reason || reason.code === this.#said || this.#io.now() - this.#since < SAID_AFTER_MS) return;
    this.#said = reason.code;
    this.#io.info(`carillon: ${id} waits: ${reason.detail}`);
  }
}

/** How something stands that is waited for. */
export interface WaitedFor {
  readonly id: string;
  readonly status: string;
  readonly waiting_on?: Run["waiting_on"];
}

/** Said to somebody who stops waiting: what they waited for does not stop with them. */
export const detachedMessage = (id: string): string => `carillon: ${id} ${detachedHint(id)}`;

function detachedHint(id: string): string {
  const [again, end] = id.startsWith("job_") ? ["why", "job cancel"] : ["run watch", "run cancel"];
  return `goes on without us; look again with: carillon ${again} ${id}; end it with: carillon ${end} ${id}`;
}

/** How a run, or a job, stands that was not over in time. */
export function timeoutMessage({ id, status, waiting_on: reason }: WaitedFor, limitMs: number): string {
  const why = reason ? `: ${reason.detail}` : "";
  return `${id} is ${status} after ${limitMs / 1_000} s${why}; it ${detachedHint(id)}`;
}
