import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderTask } from "../output/task-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(target.argument("<task>", "its name"))).addHelpText(
      "after",
      `
With the defaults that its worker registered: they are taken where a request for a run or a job leaves them out.

Example:
  $ carillon task get email.welcome`,
    );
  },
  async run(io, invocation) {
    const task = await clientOf(io, invocation).tasks.get(requiredArg(invocation, 0));
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderTask(task) : renderJson(task, form));
  },
};
