import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, textOption } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { errorGroupColumns } from "../output/dead-letter-view.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(withOutputForm(withListLimit(target)))
      .option("--task <name>", "only those that this task met")
      .addHelpText(
        "after",
        `
The kinds of errors that runs met, the latest first.

Example:
  $ carillon error-group list --task email.welcome`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const task = textOption(invocation, "task");
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: errorGroupColumns,
      noun: "kinds of errors",
      async page(size, token) {
        const query = {
          page_size: size,
          ...(task !== undefined && { task }),
          ...(token !== null && { page_token: token }),
        };
        const { error_groups: rows, next_page_token: next } = await client.errorGroups.list(query);
        return { rows, next };
      },
    });
  },
};
