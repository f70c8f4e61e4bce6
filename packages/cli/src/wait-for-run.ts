import type { Client } from "@carillon/client";
import type { Job, Run } from "@carillon/contract";
import { isFinal } from "@carillon/core";
import { CliError } from "./cli-error.js";
import { ExitCode } from "./exit-codes.js";
import type { Io } from "./io.js";
import { ProgressLine } from "./output/progress-line.js";
import { Absence } from "./absence.js";
import { type Standing, goesOn, notOver, WaitReasons } from "./waits.js";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/** Asks, ever less often, until the job's run has ended or the time is over. */
export async function waitForRun(io: Io, client: Client, jobId: string, limitMs: number): Promise<Job> {
  return waitFor(io, {
    id: jobId,
    limitMs,
    look: () => client.jobs.get(jobId),
    runOf: (job) => job.run,
    nameOf: (job) => job.run ?? job,
  });
}

/** The same for a run that is known by its own id. */
export async function waitForEnd(io: Io, client: Client, runId: string, limitMs: number): Promise<Run> {
  return waitFor(io, {
    id: runId,
    limitMs,
    look: () => client.runs.get(runId),
    runOf: (run) => run,
    nameOf: (run) => run,
  });
}

interface Awaiting<Seen> {
  readonly id: string;
  readonly limitMs: number;
  readonly look: () => Promise<Seen>;
  /** The run, once there is one. */
  readonly runOf: (seen: Seen) => Run | undefined;
  /** What is named when it was not over in time. */
  readonly nameOf: (seen: Seen) => Standing;
}

async function waitFor<Seen>(io: Io, { id, limitMs, look, runOf, nameOf }: Awaiting<Seen>): Promise<Seen> {
  const since = io.now();
  const line = new ProgressLine(io);
  const talking = line.talking(io);
  const reasons = new WaitReasons(talking);
  const absence = new Absence(talking, { hasAnswered: true });
  const letGo = io.onInterrupt(() => line.say(goesOn(id)));
  try {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const seen = await absence.outlive(look);
      const run = runOf(seen);
      if (run !== undefined && isFinal(run.status)) return seen;
      const waitedMs = io.now() - since;
      if (waitedMs >= limitMs) throw new CliError(ExitCode.timedOut, notOver(nameOf(seen), limitMs));
      if (run !== undefined) reasons.see(run);
      // Elsewhere than on a terminal nobody looks before the end.
      if (io.talkIsTerminal) line.show(`${id} is ${nameOf(seen).status}, ${Math.floor(waitedMs / 1_000)} s`);
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
