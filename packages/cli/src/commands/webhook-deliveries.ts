import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { listLimit, withListLimit } from "../flags.js";
import { webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { outputForm, printList } from "../output.js";
import { deliveryColumns } from "../output/webhook-view.js";

export const command: CommandModule = {
  define(target) {
    withListLimit(withWebhookArgument(target)).addHelpText(
      "after",
      `
Example:
  $ carillon webhook deliveries whk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = webhookArgument(invocation);
    await printList(io, {
      form: outputForm(invocation),
      limit: listLimit(invocation),
      columns: deliveryColumns,
      noun: "deliveries",
      async page(size, token) {
        const query = { page_size: size, ...(token !== null && { page_token: token }) };
        const { deliveries, next_page_token: next } = await client.webhooks.deliveries(id, query);
        return { rows: deliveries, next };
      },
    });
  },
};
