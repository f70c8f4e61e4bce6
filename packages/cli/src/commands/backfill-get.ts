import { type CommandModule, flagOption } from "../command.js";
import { backfillArgument, printBackfill, withBackfillArgument } from "../input/backfill-argument.js";
import { clientOf } from "../client.js";
import { watchBackfill } from "../watch-backfill.js";

export const command: CommandModule = {
  define(target) {
    withBackfillArgument(target)
      .option("--watch", "stay until it has ended, and say how far it is")
      .addHelpText(
        "after",
        `
Example:
  $ carillon backfill get bkf_01k9zq3v5e0r8t2b7n4m6x1c9d --watch`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const found = await client.backfills.get(backfillArgument(invocation));
    const backfill = flagOption(invocation, "watch") ? await watchBackfill(io, client, found) : found;
    await printBackfill(io, invocation, backfill);
  },
};
