import type { CommandModule } from "../command.js";
import { clientOf } from "../client.js";
import { printWebhook, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";

export const command: CommandModule = {
  define(target) {
    withWebhookArgument(target).addHelpText(
      "after",
      `
Its secret was shown when it was made; a new one: carillon webhook rotate.

Example:
  $ carillon webhook get whk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    await printWebhook(io, invocation, await clientOf(io, invocation).webhooks.get(webhookArgument(invocation)));
  },
};
