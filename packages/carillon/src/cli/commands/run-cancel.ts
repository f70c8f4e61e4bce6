import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderRun } from "../output/run-view.js";

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
    if (run.status === "running") io.talk("carillon: it runs; its worker is asked to stop");
    else if (run.status === "cancelled") io.talk(`carillon: undo with: carillon run replay ${run.id}`);
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
  },
};
