import type { CommandModule } from "../command.js";
import { explainRun } from "../explain.js";
import { clientOf, withServerAddress } from "../client.js";
import { withOutputForm } from "../output.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id"))).addHelpText(
      "after",
      `
Example:
  $ carillon run explain run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  run: (io, invocation) => explainRun(io, invocation, clientOf(io, invocation)),
};
