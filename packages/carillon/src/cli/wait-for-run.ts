import type { Client } from "@carillon/client";
import type { Job, Run } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError } from "./cli-error.js";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { notOver, WaitReasons } from "./waits.js";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Asks, ever less often, until the job's run has ended or the time is over. */
export async function waitForRun(io: Io, client: Client, jobId: string, limitMs: number): Promise<Job> {
  const until = io.now() + limitMs;
  const reasons = new WaitReasons(io);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const job = await client.jobs.get(jobId);
    if (job.run !== undefined && isFinal(job.run.status)) return job;
    if (io.now() >= until) throw new CliError(ExitCode.timedOut, notOver(job.run ?? job, limitMs));
    if (job.run !== undefined) reasons.see(job.run);
    await io.sleep(pauseMs);
  }
}

/** The same for a run that is known by its own id. */
export async function waitForEnd(io: Io, client: Client, runId: string, limitMs: number): Promise<Run> {
  const until = io.now() + limitMs;
  const reasons = new WaitReasons(io);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const run = await client.runs.get(runId);
    if (isFinal(run.status)) return run;
    if (io.now() >= until) throw new CliError(ExitCode.timedOut, notOver(run, limitMs));
    reasons.see(run);
    await io.sleep(pauseMs);
  }
}

/** How an awaited run that has ended shows in the exit code. */
export function exitCodeOfRun({ status }: Pick<Run, "status">): ExitCode {
  if (status === "succeeded") return ExitCode.ok;
  return status === "cancelled" ? ExitCode.cancelled : ExitCode.runFailed;
}
