import type { Delivery, Webhook } from "@carillon/contract";
import type { Command } from "commander";
import { withServerAddress } from "../client.js";
import { type Invocation, requiredArg, textOption } from "../command.js";
import { CliError, ExitCode } from "../exit-codes.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderDelivery, renderWebhook } from "../output/webhook-view.js";

/** A command about one endpoint. */
export function withWebhookArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<webhook>", "its id")));
}

export const webhookArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

export async function printWebhook(io: Io, invocation: Invocation, webhook: Webhook): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderWebhook(webhook) : renderJson(webhook, form));
}

export async function printDelivery(io: Io, invocation: Invocation, delivery: Delivery): Promise<void> {
  const form = outputForm(invocation);
  await io.out(form === "table" ? renderDelivery(delivery) : renderJson(delivery, form));
}

/** What an endpoint is told of. */
export function withWebhookFlags(command: Command): Command {
  return command
    .option("--on <ends>", "how runs may have ended: succeeded, failed, cancelled; separated by commas")
    .option("--tasks <names>", "only runs of these tasks, separated by commas; * for all")
    .option("--queues <names>", "only runs in these queues, separated by commas; * for all")
    .option("--include <parts>", "what messages carry: payload, output, error, separated by commas; or none")
    .option("--description <text>", "for those who look at it later");
}

const moments = ["succeeded", "failed", "cancelled", "dead"] as const;
const parts = ["payload", "output", "error"] as const;

export function webhookFlags(invocation: Invocation) {
  const on = wordsOf(invocation, "on", moments);
  const include = textOption(invocation, "include") === "none" ? [] : wordsOf(invocation, "include", parts);
  const [tasks, queues] = ["tasks", "queues"].map((name) => namesOf(textOption(invocation, name)));
  const description = textOption(invocation, "description");
  return {
    ...(on !== undefined && { on }),
    ...(tasks !== undefined && { tasks }),
    ...(queues !== undefined && { queues }),
    ...(include !== undefined && { include }),
    ...(description !== undefined && { description: description === "" ? null : description }),
  };
}

/** Null: whatever their name. */
function namesOf(text: string | undefined): string[] | null | undefined {
  return text === "*" ? null : text?.split(",").map((name) => name.trim());
}

function wordsOf<Word extends string>(
  invocation: Invocation,
  name: string,
  known: readonly Word[],
): Word[] | undefined {
  return textOption(invocation, name)
    ?.split(",")
    .map((given) => {
      const word = known.find((one) => one === given.trim());
      if (word !== undefined) return word;
      throw new CliError(ExitCode.usage, `--${name}: ${JSON.stringify(given)} is not one of ${known.join(", ")}`);
    });
}
