import { clientOf } from "../client.js";
import { type CommandModule, flagOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../job-flags.js";
import { hasEnded, printUndo, undoOfCancel } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .option("--keep-running", "let runs that have started go on; without it they are asked to stop")
      .addHelpText(
        "after",
        `
It fires no more, for good, and its key is free again. To stop it for a while: carillon job pause.

Example:
  $ carillon job cancel @nightly-report --keep-running`,
      );
  },
  async run(io, invocation) {
    const running = flagOption(invocation, "keepRunning") ? "keep" : "signal";
    const { jobs } = clientOf(io, invocation);
    const name = jobArgument(invocation);
    const before = await jobs.get(name);
    const job = await jobs.cancel(name, { running });
    await printJob(io, invocation, job);
    if (hasEnded(before)) io.info(`carillon: nothing changed: it was ${before.state} before`);
    else printUndo(io, invocation, "fires no more", undoOfCancel(job));
  },
};
