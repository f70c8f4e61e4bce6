import { clientOf } from "../client.js";
import { type CommandModule, flagOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../job-flags.js";
import { outputForm } from "../output.js";
import { hasEnded, printUndo, undoOfCancel } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .option("--keep-running", "let runs that have started go on; without it they are asked to stop")
      .addHelpText(
        "after",
        `
The same as carillon job cancel; for people it prints nothing but the undo. Its history stays.

Example:
  $ carillon job delete @nightly-report`,
      );
  },
  async run(io, invocation) {
    const { jobs } = clientOf(io, invocation);
    const running = flagOption(invocation, "keepRunning") ? "keep" : "signal";
    const name = jobArgument(invocation);
    const before = await jobs.get(name);
    const job = await jobs.cancel(name, { running });
    if (outputForm(invocation) !== "table") await printJob(io, invocation, job);
    if (hasEnded(before)) io.info(`carillon: nothing changed: it was ${before.state} before`);
    else printUndo(io, invocation, "fires no more", undoOfCancel(job));
  },
};
