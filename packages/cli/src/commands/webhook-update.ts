import type { WebhookPatch } from "@carillon/contract";
import { Option } from "commander";
import { clientOf } from "../client.js";
import { type CommandModule, flagOption, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import {
  printWebhook,
  webhookArgument,
  webhookFlags,
  withWebhookArgument,
  withWebhookFlags,
} from "../input/webhook-argument.js";
import { printUndo, shellWord, webhookFlagsBefore } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWebhookFlags(withWebhookArgument(target))
      .option("--to <url>", "where messages are posted to from now on")
      .addOption(new Option("--enable", "tell it again").conflicts("disable"))
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
    const patch: WebhookPatch = {
      ...webhookFlags(invocation),
      ...(url !== undefined && { url }),
      ...(flagOption(invocation, "enable") && { enabled: true }),
      ...(flagOption(invocation, "disable") && { enabled: false }),
    };
    if (Object.keys(patch).length === 0)
      throw new CliError(ExitCode.usage, "say what is to change, as in --on failed, --to <url> or --disable");
    const before = await client.webhooks.get(id);
    const webhook = await client.webhooks.update(id, patch);
    await printWebhook(io, invocation, webhook);
    const back = [
      `--to ${shellWord(before.url)}`,
      webhookFlagsBefore(before, { isNew: false }),
      before.enabled ? "--enable" : "--disable",
    ];
    printUndo(io, invocation, "changed", `webhook update ${id} ${back.join(" ")}`);
  },
};
