import { type CommandModule, flagOption } from "../command.js";
import { jobArgument } from "../input/job-argument.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(target.argument("<job>", "its id, or @ and its key"))
      .option("--keep-running", "let runs that have started go on; without it they are asked to stop")
      .addHelpText(
        "after",
        `
The same as carillon job cancel, and prints nothing but the undo. Its history stays.

Example:
  $ carillon job delete @nightly-report`,
      );
  },
  async run(io, invocation) {
    const { jobs } = clientOf(io, invocation);
    const running = flagOption(invocation, "keepRunning") ? "keep" : "signal";
    const { id } = await jobs.cancel(jobArgument(invocation), { running });
    sayUndo(io, invocation, "fires no more", `job export ${id} | job apply -f -`);
  },
};
