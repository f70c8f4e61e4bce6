import { isFinal } from "@carillon/core";
import { clientOf } from "../client.js";
import { type CommandModule, flagOption, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { readJsonArgument } from "../flags.js";
import { jobArgument, withJobArgument } from "../job-flags.js";
import { outputForm, renderJson } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { printNoUndo, printUndo } from "../undo.js";
import { exitCodeOfRun, waitForRun, waitLimitMs, withWait } from "../wait-for-run.js";

export const command: CommandModule = {
  define(target) {
    withWait(withJobArgument(target))
      .option("--payload <json>", "instead of the job's; @file reads a file, - standard input")
      .option("--force", "also while another run of the job is live")
      .addHelpText(
        "after",
        `
The schedule stays as it is.

Example:
  $ carillon job run @nightly-report --payload '{"day":"2030-01-01"}'`,
      );
  },
  async run(io, invocation) {
    const payload = textOption(invocation, "payload");
    const client = clientOf(io, invocation);
    const made = await client.jobs.runNow(jobArgument(invocation), {
      ...(payload !== undefined && { payload: await readJsonArgument(io, payload, "--payload") }),
      ...(flagOption(invocation, "force") && { force: true }),
    });
    const wait = flagOption(invocation, "wait");
    const run = wait ? await waitForRun(io, client, made.id, waitLimitMs(invocation)) : made;
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    if (isFinal(run.status)) printNoUndo(io, "it ran");
    else printUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    return wait ? exitCodeOfRun(run) : ExitCode.ok;
  },
};
