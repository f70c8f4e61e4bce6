import { present } from "@carillon/core";
import { backfillLimits, type JobBackfill } from "@carillon/contract";
import { type CommandBody, flagOption, type Invocation, numberOption, textFields, textOption } from "../command.js";
import type { ExitCode } from "../exit-codes.js";
import { numberWithin, wholeNumber } from "../flags.js";
import { job } from "../job-flags.js";
import { printThing } from "../output.js";
import { printUndo } from "../undo.js";
import { type Call, serverBody } from "../verbs.js";
import { exitCodeOfBackfill, watchBackfill } from "../watch-progress.js";
import { backfill } from "./backfill.js";

/** The body of `carillon job backfill`, which loads the contract for its limits. */
export const jobBackfill: CommandBody = serverBody(job, {
  define(target) {
    const { minPerSecond, perSecond, concurrency } = backfillLimits;
    return target
      .requiredOption("--from <instant>", "the first time that counts, as in 2030-01-01T00:00:00Z")
      .option("--to <instant>", "the last time that counts; now without it")
      .option("--dry-run", "only print how many occurrences there are")
      .option("--rate <number>", "runs created in a second, at most", numberWithin(minPerSecond, perSecond))
      .option("--concurrency <count>", "runs live at the same time, at most", wholeNumber(1, concurrency))
      .option("--repeat", "also times that have a run already")
      .option("--force", "despite the job's overlap policy")
      .option("--watch", "stay and show the progress");
  },
  notes: "Each run is created from the definition that was in force then. Times that ran are left out.",
  examples: [
    "carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --to 2030-01-31T23:59:59Z --dry-run",
    "carillon job backfill @nightly-report --from 2030-01-01T00:00:00Z --rate 2 --concurrency 1 --watch",
  ],
  run: backfillJob,
});

async function backfillJob({ io, invocation, client, name }: Call): Promise<ExitCode | void> {
  const range = backfillRange(invocation);
  if (flagOption(invocation, "dryRun")) {
    const counted = await client.jobs.countBackfill(name, range);
    await printThing(io, invocation, counted, ({ total }) => `${total}\n`);
    const { total } = counted;
    io.info(`carillon: ${total} occurrence${total === 1 ? "" : "s"} in that range; nothing was written`);
    return;
  }
  const started = await client.jobs.backfill(name, range);
  printUndo(io, invocation, `${started.id} is running; runs that it created stay`, `backfill abort ${started.id}`);
  const latest = flagOption(invocation, "watch") ? await watchBackfill(io, client, started) : started;
  await printThing(io, invocation, latest, backfill.render);
  return exitCodeOfBackfill(latest);
}

function backfillRange(invocation: Invocation): Omit<JobBackfill, "dry_run"> {
  const rate = numberOption(invocation, "rate");
  const concurrency = numberOption(invocation, "concurrency");
  return {
    from: textOption(invocation, "from") ?? "",
    ...textFields(invocation, ["to"]),
    ...present({ per_second: rate, concurrency }),
    ...(flagOption(invocation, "repeat") && { repeat: true }),
    ...(flagOption(invocation, "force") && { force: true }),
  };
}
