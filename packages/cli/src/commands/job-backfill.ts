import { type JobBackfill, backfillLimits } from "@carillon/contract";
import { clientOf } from "../client.js";
import { type CommandModule, type Invocation, flagOption, textOption } from "../command.js";
import type { ExitCode } from "../exit-codes.js";
import { numberWithin, wholeNumber } from "../flags.js";
import { printBackfill } from "../input/backfill-argument.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, renderJson } from "../output.js";
import { printUndo } from "../undo.js";
import { exitCodeOfBackfill, watchBackfill } from "../watch-backfill.js";

const { leastPerSecond, perSecond, concurrency } = backfillLimits;

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .requiredOption("--from <instant>", "the first time that counts, as in 2030-01-01T00:00:00Z")
      .option("--to <instant>", "the last time that counts; now without it")
      .option("--dry-run", "only say how many occurrences there are")
      .option("--rate <number>", "runs made in a second, at most", numberWithin(leastPerSecond, perSecond))
      .option("--concurrency <count>", "runs live at the same time, at most", wholeNumber(1, concurrency))
      .option("--repeat", "also times that have a run already")
      .option("--force", "whatever the job's overlap policy says")
      .option("--watch", "stay and say how far it is")
      .addHelpText(
        "after",
        `
Each run is made from the definition that was in force then. Times that ran are left out.

Examples:
  $ carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --to 2030-01-31T23:59:59Z --dry-run
  $ carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --rate 2 --concurrency 1 --watch`,
      );
  },
  async run(io, invocation): Promise<ExitCode | void> {
    const client = clientOf(io, invocation);
    const name = jobArgument(invocation);
    const range = rangeOf(invocation);
    const form = outputForm(invocation);
    if (flagOption(invocation, "dryRun")) {
      const counted = await client.jobs.countBackfill(name, range);
      await io.out(form === "table" ? `${counted.total}\n` : renderJson(counted, form));
      io.info(
        `carillon: ${counted.total} occurrence${counted.total === 1 ? "" : "s"} in that range; nothing was written`,
      );
      return;
    }
    const started = await client.jobs.backfill(name, range);
    printUndo(io, invocation, `${started.id} is under way; runs that it made stay`, `backfill abort ${started.id}`);
    const backfill = flagOption(invocation, "watch") ? await watchBackfill(io, client, started) : started;
    await printBackfill(io, invocation, backfill);
    return exitCodeOfBackfill(backfill);
  },
};

function rangeOf(invocation: Invocation): Omit<JobBackfill, "dry_run"> {
  const { from, rate, concurrency: live } = invocation.options;
  const to = textOption(invocation, "to");
  return {
    from: typeof from === "string" ? from : "",
    ...(to !== undefined && { to }),
    ...(typeof rate === "number" && { per_second: rate }),
    ...(typeof live === "number" && { concurrency: live }),
    ...(flagOption(invocation, "repeat") && { repeat: true }),
    ...(flagOption(invocation, "force") && { force: true }),
  };
}
