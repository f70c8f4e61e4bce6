import { type CommandModule, textOption } from "../command.js";
import { clientOf } from "../client.js";
import { printWebhook, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { printNoUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWebhookArgument(target)
      .option("--overlap <duration>", "how long the secret before signs as well (default: 24h)")
      .addHelpText(
        "after",
        `
Example:
  $ carillon webhook rotate whk_01k9zq3v5e0r8t2b7n4m6x1c9d --overlap 2h`,
      );
  },
  async run(io, invocation) {
    const overlap = textOption(invocation, "overlap");
    const how = overlap === undefined ? {} : { overlap };
    const webhook = await clientOf(io, invocation).webhooks.rotateSecret(webhookArgument(invocation), how);
    await printWebhook(io, invocation, webhook);
    printNoUndo(io, `until ${webhook.old_secret_until ?? "now"} the secret before signs as well`);
  },
};
