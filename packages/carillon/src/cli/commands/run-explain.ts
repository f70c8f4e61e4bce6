import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { outputForm, renderJson, withOutputForm } from "../output/form.js";
import { renderRunExplanation } from "../output/explanation-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<run>", "its id"))).addHelpText(
      "after",
      `
Example:
  $ carillon run explain run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const explanation = await clientOf(io, invocation).runs.explain(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRunExplanation(explanation) : renderJson(explanation, form));
  },
};
