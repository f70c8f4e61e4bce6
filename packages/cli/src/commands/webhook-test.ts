import type { CommandModule } from "../command.js";
import { clientOf } from "../client.js";
import { printDelivery, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWebhookArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon webhook test whk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const id = webhookArgument(invocation);
    await printDelivery(io, invocation, await clientOf(io, invocation).webhooks.test(id));
    printNoUndo(io, "under way", `see what becomes of it with carillon webhook deliveries ${id}`);
  },
};
