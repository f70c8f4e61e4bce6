import { type CommandModule, flagOption, textOption } from "../command.js";
import { clientOf } from "../input/server-address.js";
import {
  printWebhook,
  webhookArgument,
  webhookFlags,
  withWebhookArgument,
  withWebhookFlags,
} from "../input/webhook-argument.js";
import { sayUndo } from "../output/undo.js";
import { shellWord } from "../output/shell-word.js";

export const command: CommandModule = {
  define(target) {
    withWebhookFlags(withWebhookArgument(target))
      .option("--to <url>", "where messages are posted to from now on")
      .option("--enable", "tell it again")
      .option("--disable", "tell it nothing for now")
      .addHelpText(
        "after",
        `
Example:
  $ carillon webhook update whk_01k9zq3v5e0r8t2b7n4m6x1c9d --enable`,
      );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = webhookArgument(invocation);
    const url = textOption(invocation, "to");
    const before = await client.webhooks.get(id);
    const enabled = flagOption(invocation, "enable") ? true : flagOption(invocation, "disable") ? false : undefined;
    const webhook = await client.webhooks.update(id, {
      ...webhookFlags(invocation),
      ...(url !== undefined && { url }),
      ...(enabled !== undefined && { enabled }),
    });
    await printWebhook(io, invocation, webhook);
    const back = [
      `--to ${shellWord(before.url)}`,
      `--on ${before.on.join(",")}`,
      before.enabled ? "--enable" : "--disable",
    ];
    sayUndo(io, invocation, "changed", `webhook update ${id} ${back.join(" ")}`);
  },
};
