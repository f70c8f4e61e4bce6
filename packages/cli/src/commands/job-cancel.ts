import { type CommandModule, flagOption } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../input/job-argument.js";
import { clientOf } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";
import { hasEnded, undoOfCancel } from "../output/undo-of.js";

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
    if (hasEnded(before)) io.talk(`carillon: nothing changed: it was ${before.state} before`);
    else sayUndo(io, invocation, "fires no more", undoOfCancel(job));
  },
};
