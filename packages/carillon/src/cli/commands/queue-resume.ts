import type { CommandModule } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";
import { shellWord } from "../output/shell-word.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon queue resume email`,
    );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    await printQueue(io, invocation, await clientOf(io, invocation).queues.resume(name));
    sayUndo(io, invocation, "resumed", `queue pause ${shellWord(name)}`);
  },
};
