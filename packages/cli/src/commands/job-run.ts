import { isFinal } from "@carillon/core";
import { type CommandModule, flagOption, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { jobArgument, withJobArgument } from "../input/job-argument.js";
import { readJsonArgument } from "../input/json-value.js";
import { clientOf } from "../input/server-address.js";
import { waitLimitMs, withWait } from "../input/wait-flags.js";
import { outputForm, renderJson } from "../output/form.js";
import { renderRun } from "../output/run-view.js";
import { exitCodeOfRun, waitForEnd } from "../wait-for-run.js";
import { sayNoUndo, sayUndo } from "../output/undo.js";

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
    const run = wait ? await waitForEnd(io, client, made.id, waitLimitMs(invocation)) : made;
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    if (isFinal(run.status)) sayNoUndo(io, "it ran");
    else sayUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    return wait ? exitCodeOfRun(run) : ExitCode.ok;
  },
};
