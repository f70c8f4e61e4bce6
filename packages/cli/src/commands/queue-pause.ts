import { clientOf, found } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { pauseFlags, printUndo, shellWord } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target)
      .option("--reason <text>", "why, for those who look at it later")
      .option("--until <time>", "resume by itself then, such as 2030-01-01T08:00:00Z")
      .option("--for <duration>", "resume by itself after this time, such as 2h")
      .addHelpText(
        "after",
        `
Example:
  $ carillon queue pause email --reason 'the mail provider is down'`,
      );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    const [reason, until] = [textOption(invocation, "reason"), textOption(invocation, "until")];
    const length = textOption(invocation, "for");
    const { queues } = clientOf(io, invocation);
    const before = await found(queues.get(name));
    const queue = await queues.pause(name, {
      ...(reason !== undefined && { reason }),
      ...(until !== undefined && { until }),
      ...(length !== undefined && { for: length }),
    });
    await printQueue(io, invocation, queue);
    const word = shellWord(name);
    if (!before?.pause) printUndo(io, invocation, "paused", `queue resume ${word}`);
    else printUndo(io, invocation, "it was paused already", `queue pause ${word}${pauseFlags(before.pause, io.now())}`);
  },
};
