import { type CommandModule, requiredArg } from "../command.js";
import { clientOf } from "../client.js";
import { printDelivery, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWebhookArgument(target)
      .argument("<delivery>", "what was sent")
      .addHelpText(
        "after",
        `
Example:
  $ carillon webhook redeliver whk_01k9zq3v5e0r8t2b7n4m6x1c9d run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
      );
  },
  async run(io, invocation) {
    const id = webhookArgument(invocation);
    const sent = await clientOf(io, invocation).webhooks.redeliver(id, requiredArg(invocation, 1));
    await printDelivery(io, invocation, sent);
    printNoUndo(io, "under way", `see what becomes of it with carillon webhook deliveries ${id}`);
  },
};
