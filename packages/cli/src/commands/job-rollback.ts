import { clientOf } from "../client.js";
import { type CommandModule, requiredArg } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { jobArgument, printJob, withJobArgument } from "../job-flags.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .argument("<version>", "the one whose definition is to hold again")
      .addHelpText(
        "after",
        `
The definition of that version becomes a new version. Versions: carillon job history.

Example:
  $ carillon job rollback @nightly-report 3`,
      );
  },
  async run(io, invocation) {
    const text = requiredArg(invocation, 1);
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new CliError(ExitCode.usage, `${JSON.stringify(text)} is not a version`);
    const { jobs } = clientOf(io, invocation);
    const name = jobArgument(invocation);
    const { version } = await jobs.get(name);
    const job = await jobs.rollback(name, Number(text), { ifVersion: version });
    await printJob(io, invocation, job);
    printUndo(io, invocation, `version ${job.version} is as ${text} was`, `job rollback ${name} ${version}`);
  },
};
