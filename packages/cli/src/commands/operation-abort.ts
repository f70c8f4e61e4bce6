import type { CommandModule } from "../command.js";
import { operationArgument, printOperation, withOperationArgument } from "../input/operation-argument.js";
import { clientOf } from "../client.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withOperationArgument(target).addHelpText(
      "after",
      `
What it did stays done.

Example:
  $ carillon operation abort op_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const operation = await clientOf(io, invocation).operations.abort(operationArgument(invocation));
    await printOperation(io, invocation, operation);
    if (operation.state === "done") return io.info("carillon: nothing changed: it is done");
    printNoUndo(io, "aborted", `ask for the rest again: carillon run bulk ${operation.action} …`);
  },
};
