import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { renderBreaker } from "../output/breaker-view.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<breaker>", "its name, or that of its task"))).addHelpText(
      "after",
      `
Example:
  $ carillon breaker show payments-api`,
    );
  },
  async run(io, invocation) {
    const breaker = await clientOf(io, invocation).breakers.get(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderBreaker(breaker) : renderJson(breaker, form));
  },
};
