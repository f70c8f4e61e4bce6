import { clientOf, withServerAddress } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { outputForm, printList, withOutputForm } from "../output.js";
import { breakerColumns } from "../output/breaker-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withServerAddress(withOutputForm(target))).addHelpText(
      "after",
      `
Example:
  $ carillon breaker list`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: breakerColumns,
      noun: "breakers",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { breakers, next_page_token: next } = await client.breakers.list(query);
        return { rows: breakers, next };
      },
    });
  },
};
