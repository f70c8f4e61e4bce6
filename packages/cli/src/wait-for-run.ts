import type { Client } from "@carillon/client";
import type { Job, Run } from "@carillon/contract";
import { isFinal, parseDuration } from "@carillon/core";
import type { Command } from "commander";
import { type Invocation, textOption } from "./command.js";
import { CliError, ExitCode } from "./exit-codes.js";
import { durationWithin } from "./flags.js";
import type { Io } from "./io.js";
import { outputForm } from "./output.js";
import { ProgressLine } from "./progress-line.js";
import { Reconnect } from "./reconnect.js";

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
export class WaitReasonReporter {
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
export interface WaitedFor {
  readonly id: string;
  readonly status: string;
  readonly waiting_on?: Run["waiting_on"];
}

/** Printed when the user stops waiting: the run does not stop. */
export const detachedMessage = (id: string): string => `carillon: ${id} ${detachedHint(id)}`;

function detachedHint(id: string): string {
  const [again, end] = id.startsWith("job_") ? ["why", "job cancel"] : ["run watch", "run cancel"];
  return `goes on in the server; see it again with: carillon ${again} ${id}; end it with: carillon ${end} ${id}`;
}

/** The error of a wait that took too long. */
export function timeoutMessage({ id, status, waiting_on: reason }: WaitedFor, limitMs: number): string {
  const why = reason ? `: ${reason.detail}` : "";
  return `${id} is ${status} after ${limitMs / 1_000} s${why}; it ${detachedHint(id)}`;
}

/** A namespace with more tasks is not checked. */
const maxTasks = 1_000;

/** Warns people who created a run or a job that no worker serves its task yet: a typing mistake, or a worker that is to be started. */
export async function warnIfUnserved(io: Io, invocation: Invocation, client: Client, task: string): Promise<void> {
  if (outputForm(invocation) !== "table") return;
  const { tasks, next_page_token: more } = await client.tasks.list({ page_size: maxTasks });
  if (more !== null || tasks.some(({ name, workers }) => name === task && workers > 0)) return;
  const served = tasks.filter((one) => one.workers > 0 && !one.name.startsWith("carillon:")).map(({ name }) => name);
  const who = served.length === 0 ? "there is no worker" : `served are ${served.slice(0, 10).join(", ")}`;
  io.info(`carillon: warning: no worker serves task ${task} yet (${who}); its runs wait until one does`);
}
