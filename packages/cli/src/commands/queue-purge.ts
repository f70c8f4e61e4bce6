import { type CommandModule, flagOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../client.js";
import { outputForm, renderJson } from "../output.js";
import { printNoUndo } from "../undo.js";
import { watchOperation } from "../watch-operation.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target)
      .option("--dry-run", "only say how many there are")
      .option("--keep-delayed", "leave those alone that wait for their time or for their next try")
      .addHelpText(
        "after",
        `
Ends all runs that wait, for whatever, as cancelled; what workers have goes on. There is no undo. Many runs end by an
operation, which this command follows; interrupted, it goes on.

Examples:
  $ carillon queue purge email --dry-run
  $ carillon queue purge email`,
      );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    const isDryRun = flagOption(invocation, "dryRun");
    const client = clientOf(io, invocation);
    const isKept = flagOption(invocation, "keepDelayed");
    const asked = { ...(isKept && { delayed: false }), ...(isDryRun && { dry_run: true }) };
    const purged = await client.queues.purge(name, asked);
    const ended = "id" in purged ? await watchOperation(io, client, purged) : null;
    const { count, more } = "id" in purged ? { count: ended?.done ?? 0, more: false } : purged;
    const form = outputForm(invocation);
    const text = `${count}${more ? " or more" : ""}\n`;
    await io.out(form === "table" ? text : renderJson({ count, more, dry_run: isDryRun }, form));
    if (isDryRun) return io.info("carillon: so many would be ended; nothing was changed");
    if (ended?.state === "aborted") return ExitCode.cancelled;
    printNoUndo(io, "ended", "a run is made again with carillon run replay <id>");
  },
};
