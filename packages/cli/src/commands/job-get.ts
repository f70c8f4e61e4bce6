import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { jobArgument, printJob, withJobArgument } from "../job-flags.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target).addHelpText(
      "after",
      `
Examples:
  $ carillon job get @nightly-report
  $ carillon job get job_01k9zq3v5e0r8t2b7n4m6x1c9d --json`,
    );
  },
  async run(io, invocation) {
    await printJob(io, invocation, await clientOf(io, invocation).jobs.get(jobArgument(invocation)));
  },
};
