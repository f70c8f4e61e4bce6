import type { QueuePatch } from "@carillon/contract";
import { Option } from "commander";
import { clientOf, found } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { printNoUndo, printUndo, shellWord } from "../undo.js";

const orders = ["priority", "fifo", "edf", "sjf", "strict"] as const;

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target)
      .addOption(new Option("--order <order>", "in which order its runs are handed out").choices([...orders]))
      .option(
        "--bound <duration>",
        "a run waits only for runs that became due at most this much later; usual for the order's own",
      )
      .addHelpText(
        "after",
        `
A queue that does not exist is made. Strict is said before the queue's first use, and stays.

Examples:
  $ carillon queue set email --order fifo
  $ carillon queue set reports --order priority --bound 30m`,
      );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    const [order, bound] = [textOption(invocation, "order"), textOption(invocation, "bound")];
    const patch: QueuePatch = {
      ...(order !== undefined && { order: order as (typeof orders)[number] }),
      ...(bound !== undefined && { bound: bound === "usual" ? null : bound }),
    };
    if (Object.keys(patch).length === 0)
      throw new CliError(ExitCode.usage, "say what is to be set: --order or --bound");
    const { queues } = clientOf(io, invocation);
    const before = await found(queues.get(name));
    await printQueue(io, invocation, await queues.update(name, patch));
    if (before === null) return printNoUndo(io, "made", "a queue stays");
    const undo = `queue set ${shellWord(name)} --order ${before.order} --bound ${before.bound ?? "usual"}`;
    printUndo(io, invocation, "set; what waits keeps its place", undo);
  },
};
