import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { explainJob } from "../explain.js";
import { jobArgument, withJobArgument } from "../job-flags.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon job explain @nightly-report`,
    );
  },
  run: (io, invocation) => explainJob(io, invocation, clientOf(io, invocation), jobArgument(invocation)),
};
