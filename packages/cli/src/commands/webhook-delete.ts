import { clientOf } from "../client.js";
import type { CommandModule } from "../command.js";
import { printWebhook, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { outputForm } from "../output.js";
import { printUndo, shellWord, webhookFlagsBefore } from "../undo.js";

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
    const before = await client.webhooks.get(id);
    await client.webhooks.delete(id);
    if (outputForm(invocation) !== "table") await printWebhook(io, invocation, before);
    const undo = `webhook create ${shellWord(before.url)} ${webhookFlagsBefore(before, { isNew: true })}`;
    printUndo(io, invocation, "removed, and its secret with it", undo);
  },
};
