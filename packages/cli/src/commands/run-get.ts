import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id"))).addHelpText(
      "after",
      `
Example:
  $ carillon run get run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const run = await clientOf(io, invocation).runs.get(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
  },
};
