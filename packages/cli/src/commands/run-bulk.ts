import type { RunBulk } from "@carillon/contract";
import { Argument } from "commander";
import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, type Invocation, flagOption, requiredArg } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import { listFilter, matches, withRunFilter } from "../flags.js";
import { printOperation } from "../input/operation-argument.js";
import type { Io } from "../io.js";
import { jobIdOption } from "../job-flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { printUndo } from "../undo.js";
import { exitCodeOfOperation, watchOperation } from "../watch-operation.js";

const actions = ["cancel", "retry", "discard"] as const;

export const command: CommandModule = {
  define(target) {
    withRunFilter(
      withServerAddress(
        withOutputForm(
          target
            .addArgument(new Argument("<action>", "what is done to each").choices(actions))
            .argument("[run...]", "these runs; else all that the flags name"),
        ),
      ),
    )
      .option("--job <job>", "only of this job: its key, or its id")
      .option("--all", "every run that the action can be about")
      .option("--dry-run", "only say how many there are")
      .option("--watch", "stay and show how far it is")
      .addHelpText(
        "after",
        `
Goes on by itself: carillon operation get shows how far it is.

Examples:
  $ carillon run bulk retry --task email.welcome --since 2030-01-01T00:00:00Z --dry-run
  $ carillon run bulk cancel --queue reports --watch`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const what = bulkOf(io, invocation, await jobIdOption(invocation, client));
    if (flagOption(invocation, "dryRun")) {
      const counted = await client.runs.countBulk(what);
      const form = outputForm(invocation);
      const least = counted.is_least ? " or more" : "";
      await io.out(form === "table" ? `${counted.count}${least}\n` : renderJson(counted, form));
      io.info("carillon: so many it would be about; nothing was changed");
      return ExitCode.ok;
    }
    const started = await client.runs.bulk(what);
    printUndo(io, invocation, `${started.id} is under way; what it did stays`, `operation abort ${started.id}`);
    const isWatched = flagOption(invocation, "watch");
    const operation = isWatched ? await watchOperation(io, client, started) : started;
    await printOperation(io, invocation, operation);
    return isWatched ? exitCodeOfOperation(operation) : ExitCode.ok;
  },
};

/** To act on everything there is takes a word of its own. */
function bulkOf(io: Io, invocation: Invocation, job: string | undefined): Omit<RunBulk, "dry_run"> {
  const action = requiredArg(invocation, 0) as (typeof actions)[number];
  const ids = invocation.args.slice(1).filter((id) => id !== undefined);
  const flat = Object.entries(listFilter(io, invocation)).filter(([name]) => !name.startsWith("payload."));
  const payload = matches(invocation);
  const filter = {
    ...Object.fromEntries(flat),
    ...(Object.keys(payload).length > 0 && { payload: { ...payload } }),
    ...(job !== undefined && { job_id: job }),
  };
  const isNarrowed = Object.keys(filter).length > 0;
  if (ids.length > 0 && (isNarrowed || flagOption(invocation, "all")))
    throw new CliError(ExitCode.usage, "name runs, or say which ones by flags; not both");
  if (ids.length > 0) return { action, ids };
  if (!isNarrowed && !flagOption(invocation, "all"))
    throw new CliError(ExitCode.usage, "name runs, say which ones by flags such as --task, or say --all");
  return { action, filter };
}
