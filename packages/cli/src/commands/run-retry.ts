import { type CommandModule, flagOption, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id")))
      .option("--force", "also while another run of the job is live")
      .addHelpText(
        "after",
        `
Makes a new run in the place of one that failed. A run is retried once: asked again, it prints the same one.

Example:
  $ carillon run retry run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
      );
  },
  async run(io, invocation) {
    const how = flagOption(invocation, "force") ? { force: true } : {};
    const run = await clientOf(io, invocation).runs.retry(requiredArg(invocation, 0), how);
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    if (run.is_new) printUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    else io.info("carillon: it had been retried before; this is that run");
  },
};
