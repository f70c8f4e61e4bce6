import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { queueColumns } from "../output/queue-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon queue list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: queueColumns,
      noun: "queues",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { queues, next_page_token: next } = await client.queues.list(query);
        return { rows: queues, next };
      },
    });
  },
};
