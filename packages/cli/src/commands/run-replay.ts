import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, flagOption, requiredArg, textOption } from "../command.js";
import { readJsonArgument } from "../flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id")))
      .option("--payload <json>", "instead of the run's; @file reads a file, - standard input")
      .option("--force", "also while another run of the job is live")
      .addHelpText(
        "after",
        `
Makes another run like one that has ended, however it ended.

Example:
  $ carillon run replay run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
      );
  },
  async run(io, invocation) {
    const payload = textOption(invocation, "payload");
    const run = await clientOf(io, invocation).runs.replay(requiredArg(invocation, 0), {
      ...(payload !== undefined && { payload: await readJsonArgument(io, payload, "--payload") }),
      ...(flagOption(invocation, "force") && { force: true }),
    });
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    printUndo(io, invocation, "asked for", `run cancel ${run.id}`);
  },
};
