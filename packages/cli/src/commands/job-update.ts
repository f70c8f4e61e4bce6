import type { JobPatch } from "@carillon/contract";
import { clientOf } from "../client.js";
import type { CommandModule, Invocation } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { readJsonArgument, wholeNumber } from "../flags.js";
import type { Io } from "../io.js";
import { jobArgument, jobRequest, printJob, withJobArgument, withJobChangeFlags } from "../job-flags.js";
import { printUndo } from "../undo.js";

const LAST_VERSION = 2_147_483_647;

export const command: CommandModule = {
  define(target) {
    withJobChangeFlags(
      withJobArgument(target).argument(
        "[patch]",
        "what changes, as JSON, in place of flags; null removes; @file reads a file, - standard input",
      ),
    )
      .option("--if-version <number>", "only if the job still has this version", wholeNumber(1, LAST_VERSION))
      .addHelpText(
        "after",
        `
What is not said stays as it is. Flags are for what is changed every day, JSON for everything.

Examples:
  $ carillon job update @nightly-report --cron '0 3 * * *' --tz Europe/Paris
  $ carillon job update @nightly-report '{"schedule":{"cron":"0 3 * * *"}}'
  $ carillon job update @nightly-report '{"overlap":"queue_one","timeout":null}' --if-version 7`,
      );
  },
  async run(io, invocation) {
    // What the patch may hold is the server's to judge.
    const patch = await patchOf(io, invocation);
    const { ifVersion } = invocation.options;
    const options = typeof ifVersion === "number" ? { ifVersion } : {};
    const name = jobArgument(invocation);
    const { jobs } = clientOf(io, invocation);
    const before = typeof ifVersion === "number" ? ifVersion : (await jobs.get(name)).version;
    const job = await jobs.update(name, patch, options);
    await printJob(io, invocation, job);
    if (job.version === before) io.info(`carillon: nothing changed; it still is version ${before}`);
    else printUndo(io, invocation, `version ${job.version}`, `job rollback ${name} ${before}`);
  },
};

async function patchOf(io: Io, invocation: Invocation): Promise<JobPatch> {
  const said = (await jobRequest(io, invocation)) as JobPatch;
  const isSaid = Object.keys(said).length > 0;
  const [, given] = invocation.args;
  if (given === undefined && !isSaid)
    throw new CliError(ExitCode.usage, `say what changes: flags such as --cron, or JSON such as '{"priority":7}'`);
  if (given === undefined) return said;
  if (isSaid) throw new CliError(ExitCode.usage, "say what changes by flags, or as JSON; not both");
  return (await readJsonArgument(io, given, "<patch>")) as JobPatch;
}
