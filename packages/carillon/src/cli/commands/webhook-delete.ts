import type { CommandModule } from "../command.js";
import { clientOf } from "../input/server-address.js";
import { webhookArgument, withWebhookArgument } from "../input/webhook-argument.js";
import { sayUndo } from "../output/undo.js";
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
    const { url, on } = await client.webhooks.get(id);
    await client.webhooks.delete(id);
    const undo = `webhook create ${shellWord(url)} --on ${on.join(",")}`;
    sayUndo(io, invocation, "removed, and its secret with it", undo);
  },
};
