import { type CommandModule, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { operationArgument, printOperation, withOperationArgument } from "../input/operation-argument.js";
import { clientOf } from "../client.js";
import { exitCodeOfOperation, watchOperation } from "../watch-operation.js";

export const command: CommandModule = {
  define(target) {
    withOperationArgument(target)
      .option("--watch", "stay until it has ended, and show how far it is; exit code 1 if some failed, 7 if aborted")
      .addHelpText(
        "after",
        `
Example:
  $ carillon operation get op_01k9zq3v5e0r8t2b7n4m6x1c9d --watch`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const found = await client.operations.get(operationArgument(invocation));
    const isWatched = flagOption(invocation, "watch");
    const operation = isWatched ? await watchOperation(io, client, found) : found;
    await printOperation(io, invocation, operation);
    return isWatched ? exitCodeOfOperation(operation) : ExitCode.ok;
  },
};
