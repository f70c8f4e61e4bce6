import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { pauseFlags, printUndo, shellWord } from "../undo.js";

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
    const { queues } = clientOf(io, invocation);
    const before = await queues.get(name);
    await printQueue(io, invocation, await queues.resume(name));
    if (!before.paused) return io.info("carillon: nothing changed: it was not paused");
    printUndo(io, invocation, "resumed", `queue pause ${shellWord(name)}${pauseFlags(before.pause, io.now())}`);
  },
};
