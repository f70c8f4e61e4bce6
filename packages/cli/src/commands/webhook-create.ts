import { type CommandModule, requiredArg } from "../command.js";
import { clientOf, withServerAddress } from "../client.js";
import { printWebhook, webhookFlags, withWebhookFlags } from "../input/webhook-argument.js";
import { withOutputForm } from "../output.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWebhookFlags(
      withServerAddress(withOutputForm(target.argument("<url>", "where messages are posted to"))),
    ).addHelpText(
      "after",
      `
The secret that signs what is sent is shown this once.

Example:
  $ carillon webhook create https://example.com/hooks/carillon --on failed`,
    );
  },
  async run(io, invocation) {
    // What would be taken away in a change is what a new one does not have.
    const { tasks, queues, description, ...said } = webhookFlags(invocation);
    const made = await clientOf(io, invocation).webhooks.create({
      url: requiredArg(invocation, 0),
      ...said,
      ...(tasks && { tasks }),
      ...(queues && { queues }),
      ...(description && { description }),
    });
    await printWebhook(io, invocation, made);
    printUndo(io, invocation, "made", `webhook delete ${made.id}`);
  },
};
