import type { CommandModule } from "../command.js";
import { clientOf } from "../input/server-address.js";
import { webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";

export const command: CommandModule = {
  define(target) {
    withWebhookArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon webhook delete whk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = webhookArgument(invocation);
    const { url, on } = await client.webhooks.get(id);
    await client.webhooks.delete(id);
    io.talk(`carillon: removed; undo with: carillon webhook create ${url} --on ${on.join(",")} (with a new secret)`);
  },
};
