import type { CommandModule } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../client.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon queue get email`,
    );
  },
  async run(io, invocation) {
    const { queues } = clientOf(io, invocation);
    const name = queueArgument(invocation);
    const queue = await queues.get(name);
    await printQueue(io, invocation, queue, await queues.stats(name));
  },
};
