import type { CommandModule } from "../command.js";
import { clientOf } from "../input/server-address.js";
import { printWebhook, webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { outputForm } from "../output/form.js";
import { sayUndo } from "../output/undo.js";
import { webhookUndoFlags } from "../output/undo-of.js";
import { shellWord } from "../output/shell-word.js";

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
    const undo = `webhook create ${shellWord(before.url)} ${webhookUndoFlags(before, { isNew: true })}`;
    sayUndo(io, invocation, "removed, and its secret with it", undo);
  },
};
