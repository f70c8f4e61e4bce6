import type { QueuePatch } from "@carillon/contract";
import { Option } from "commander";
import { type CommandModule, textOption } from "../command.js";
import { printQueue, queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../input/server-address.js";

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
    await printQueue(io, invocation, await clientOf(io, invocation).queues.update(name, patch));
    io.talk(`carillon: set; what waits keeps its place. Undo with another: carillon queue set ${name} --order …`);
  },
};
