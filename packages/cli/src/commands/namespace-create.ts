import { type CommandModule, requiredArg } from "../command.js";
import { printNamespace, weightOption, withNamespaceArgument } from "../input/namespace-argument.js";
import { clientOf } from "../client.js";
import { printNoUndo } from "../undo.js";

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
    printNoUndo(io, `made; use it with --namespace ${name}`, "a namespace stays");
  },
};
