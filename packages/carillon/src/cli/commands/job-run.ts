import { type CommandModule, flagOption, textOption } from "../command.js";
import { jobArgument, withJobArgument } from "../input/job-argument.js";
import { readJsonArgument } from "../input/json-value.js";
import { clientOf } from "../input/server-address.js";
import { outputForm, renderJson } from "../output/form.js";
import { renderRun } from "../output/run-view.js";

export const command: CommandModule = {
  define(target) {
    withJobArgument(target)
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
    const run = await clientOf(io, invocation).jobs.runNow(jobArgument(invocation), {
      ...(payload !== undefined && { payload: await readJsonArgument(io, payload, "--payload") }),
      ...(flagOption(invocation, "force") && { force: true }),
    });
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
  },
};
