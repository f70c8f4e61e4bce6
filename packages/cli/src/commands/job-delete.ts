import { type CommandModule, flagOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../input/job-argument.js";
import { clientOf } from "../input/server-address.js";
import { outputForm } from "../output/form.js";
import { sayUndo } from "../output/undo.js";
import { hasEnded, undoOfCancel } from "../output/undo-of.js";

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
    if (hasEnded(before)) io.talk(`carillon: nothing changed: it was ${before.state} before`);
    else sayUndo(io, invocation, "fires no more", undoOfCancel(job));
  },
};
