import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { renderBreaker } from "../output/breaker-view.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<breaker>", "its name, or that of its task"))).addHelpText(
      "after",
      `
What waits behind it is handed out again; it opens anew if that fails.

Example:
  $ carillon breaker reset payments-api`,
    );
  },
  async run(io, invocation) {
    const breaker = await clientOf(io, invocation).breakers.reset(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderBreaker(breaker) : renderJson(breaker, form));
    printNoUndo(io, "closed", "to hold runs back by hand, carillon queue pause <queue>");
  },
};
