import { type CommandModule, requiredArg } from "../command.js";
import { printNamespace } from "../input/namespace-argument.js";
import { clientOf, withServerAddress } from "../client.js";
import { withOutputForm } from "../output.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<name>", "its name"))).addHelpText(
      "after",
      `
Example:
  $ carillon namespace get billing`,
    );
  },
  async run(io, invocation) {
    await printNamespace(io, invocation, await clientOf(io, invocation).namespaces.get(requiredArg(invocation, 0)));
  },
};
