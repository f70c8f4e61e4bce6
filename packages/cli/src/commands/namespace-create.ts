import { type CommandModule, requiredArg } from "../command.js";
import { printNamespace, weightOption, withNamespaceArgument } from "../input/namespace-argument.js";
import { clientOf } from "../input/server-address.js";
import { sayNoUndo } from "../output/undo.js";

export const command: CommandModule = {
  define(target) {
    withNamespaceArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon namespace create billing --weight 3`,
    );
  },
  async run(io, invocation) {
    const name = requiredArg(invocation, 0);
    const made = await clientOf(io, invocation).namespaces.create({ name, ...weightOption(invocation) });
    await printNamespace(io, invocation, made);
    sayNoUndo(io, `made; use it with --namespace ${name}`, "a namespace stays");
  },
};
