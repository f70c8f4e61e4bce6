import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { workerColumns } from "../output/worker-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon worker list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: workerColumns,
      noun: "workers",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { workers, next_page_token: next } = await client.workers.list(query);
        return { rows: workers, next };
      },
    });
  },
};
