import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../input/list-filter.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { breakerColumns } from "../output/breaker-view.js";
import { outputForm, withOutputForm } from "../output/form.js";
import { printList } from "../output/list.js";

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
