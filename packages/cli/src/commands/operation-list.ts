import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { operationColumns } from "../output/operation-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon operation list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: operationColumns,
      noun: "operations",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { operations, next_page_token: next } = await client.operations.list(query);
        return { rows: operations, next };
      },
    });
  },
};
