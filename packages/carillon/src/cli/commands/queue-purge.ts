import { type CommandModule, flagOption } from "../command.js";
import { queueArgument, withQueueArgument } from "../input/queue-argument.js";
import { clientOf } from "../input/server-address.js";
import { outputForm, renderJson } from "../output/form.js";
import { sayNoUndo } from "../output/undo.js";
import { ProgressLine } from "../output/progress-line.js";

export const command: CommandModule = {
  define(target) {
    withQueueArgument(target)
      .option("--dry-run", "only say how many there are")
      .addHelpText(
        "after",
        `
Ends runs that wait for a worker, as cancelled; what workers have goes on. There is no undo.

Examples:
  $ carillon queue purge email --dry-run
  $ carillon queue purge email`,
      );
  },
  async run(io, invocation) {
    const name = queueArgument(invocation);
    const isDryRun = flagOption(invocation, "dryRun");
    const { queues } = clientOf(io, invocation);
    let purged = await queues.purge(name, { dry_run: isDryRun });
    let { count } = purged;
    const line = new ProgressLine(io);
    const goOn = (): boolean => purged.more && !isDryRun;
    while (goOn()) {
      line.show(`${count} ended so far`);
      purged = await queues.purge(name, {});
      count += purged.count;
    }
    line.clear();
    const form = outputForm(invocation);
    await io.out(
      form === "table" ? `${count}${purged.more ? " or more" : ""}\n` : renderJson({ ...purged, count }, form),
    );
    if (isDryRun) io.talk("carillon: so many would be ended; nothing was changed");
    else sayNoUndo(io, "ended", "a run is made again with carillon run replay <id>");
  },
};
