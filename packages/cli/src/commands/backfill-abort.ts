import type { CommandModule } from "../command.js";
import { backfillArgument, printBackfill, withBackfillArgument } from "../input/backfill-argument.js";
import { clientOf } from "../client.js";
import { printNoUndo, undoLine } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withBackfillArgument(target).addHelpText(
      "after",
      `
It makes no more runs; those that it has made go on.

Example:
  $ carillon backfill abort bkf_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const backfill = await clientOf(io, invocation).backfills.abort(backfillArgument(invocation));
    await printBackfill(io, invocation, backfill);
    if (backfill.state === "done") return io.info("carillon: nothing changed: it is done");
    const { job_id: job, from, to } = backfill;
    const again = undoLine(invocation, `job backfill ${job} --from ${from} --to ${to}`);
    printNoUndo(io, "makes no more runs", `begin again, without what ran, with ${again}`);
  },
};
