import { Option } from "commander";
import { clientOf } from "../client.js";
import { type CommandModule, flagOption } from "../command.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, renderJson } from "../output.js";
import { renderJob } from "../output/job-view.js";
import { pauseFlags, printUndo } from "../undo.js";

const choices = ["none", "latest", "all"] as const;

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
      .addOption(
        new Option("--missed <which>", "which of the occurrences inside the pause are run").choices([...choices]),
      )
      .option("--dry-run", "only say how many there are")
      .addHelpText(
        "after",
        `
Examples:
  $ carillon job resume @nightly-report --dry-run
  $ carillon job resume @nightly-report --missed latest`,
      );
  },
  async run(io, invocation) {
    const missed = choices.find((choice) => choice === invocation.options["missed"]);
    const dryRun = flagOption(invocation, "dryRun");
    const name = jobArgument(invocation);
    const { jobs } = clientOf(io, invocation);
    const before = dryRun ? null : await jobs.get(name);
    const resumed = await jobs.resume(name, {
      ...(missed !== undefined && { missed }),
      ...(dryRun && { dry_run: true }),
    });
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderJob(resumed.job) : renderJson(resumed, form));
    const count = `${resumed.missed} occurrence${resumed.missed === 1 ? "" : "s"} inside the pause`;
    if (dryRun) io.info(`carillon: ${count}; nothing was changed`);
    else if (before?.state !== "paused") io.info(`carillon: nothing changed: it was not paused`);
    else printUndo(io, invocation, `resumed; ${count}`, `job pause ${name}${pauseFlags(before.pause, io.now())}`);
  },
};
