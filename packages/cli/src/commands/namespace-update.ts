import { clientOf } from "../client.js";
import { type CommandModule, requiredArg } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { printNamespace, weightOption, withNamespaceArgument } from "../input/namespace-argument.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withNamespaceArgument(target).addHelpText(
      "after",
      `
Weights count from the next claim on, for workers that serve several namespaces.

Example:
  $ carillon namespace update billing --weight 5`,
    );
  },
  async run(io, invocation) {
    const name = requiredArg(invocation, 0);
    const change = weightOption(invocation);
    if (change.weight === undefined) throw new CliError(ExitCode.usage, "say what is to change: --weight <number>");
    const { namespaces } = clientOf(io, invocation);
    const { weight } = await namespaces.get(name);
    await printNamespace(io, invocation, await namespaces.update(name, change));
    printUndo(io, invocation, "changed", `namespace update ${name} --weight ${weight}`);
  },
};
