import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { namespaceColumns } from "../output/namespace-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon namespace list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: namespaceColumns,
      noun: "namespaces",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { namespaces, next_page_token: next } = await client.namespaces.list(query);
        return { rows: namespaces, next };
      },
    });
  },
};
