import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { printNoUndo, printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id"))).addHelpText(
      "after",
      `
One that waits ends; one that runs is asked to stop; one that has ended is shown as it is.

Example:
  $ carillon run cancel run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const run = await clientOf(io, invocation).runs.cancel(requiredArg(invocation, 0));
    if (run.status === "running")
      printNoUndo(io, "its worker is asked to stop", "when it has ended, carillon run replay");
    else if (run.status === "cancelled") printUndo(io, invocation, "cancelled", `run replay ${run.id}`);
    else io.info(`carillon: nothing changed: it is ${run.status}`);
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
  },
};
