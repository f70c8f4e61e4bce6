import { type CommandModule, requiredArg } from "../command.js";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";
import { printNamespace, weightOption, withNamespaceArgument } from "../input/namespace-argument.js";
import { clientOf } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";

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
    sayUndo(io, invocation, "changed", `namespace update ${name} --weight ${weight}`);
  },
};
