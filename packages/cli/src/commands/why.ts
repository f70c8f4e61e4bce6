import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { explainJob, explainRun } from "../explain.js";
import { jobName } from "../job-flags.js";
import { withOutputForm } from "../output.js";
import { printWaiting } from "../waiting.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(
      withOutputForm(target.argument("[what]", "a job by its id or key, or a run by its id; nothing: all that waits")),
    ).addHelpText(
      "after",
      `
Of a job: whether it fires, what its newest run waits for or how it ended, and what was left out lately. Of a run: the first thing that
keeps it, and what keeps that. Without an argument: the runs that are due and do not run, by reason, and the jobs that are paused.

Examples:
  $ carillon why @nightly-report
  $ carillon why run_01k9zq3v5e0r8t2b7n4m6x1c9d
  $ carillon why`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const [what] = invocation.args;
    if (what === undefined) return printWaiting(io, invocation, client);
    if (what.startsWith("run_")) return explainRun(io, invocation, client);
    return explainJob(io, invocation, client, jobName(what));
  },
};
