import { type CommandModule, textOption } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../input/server-address.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target)
      .option("--reason <text>", "why, for those who look at it later")
      .addHelpText(
        "after",
        `
Example:
  $ carillon queue pause email --reason 'the mail provider is down'`,
      );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    const reason = textOption(invocation, "reason");
    const queue = await clientOf(io, invocation).queues.pause(name, { ...(reason !== undefined && { reason }) });
    await printQueue(io, invocation, queue);
    io.talk(`carillon: paused; undo with: carillon queue resume ${name}`);
  },
};
