import type { Queue, QueueStats } from "@carillon/contract";
import type { Command } from "commander";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderQueue } from "../output/queue-view.js";
import { withServerAddress } from "../client.js";

/** A command about one queue. */
export function withQueueArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<queue>", "its name")));
}

export const queueArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

/** The queue that a command ended with. */
export async function printQueue(
  io: Io,
  invocation: Invocation,
  queue: Queue,
  stats: QueueStats | null = null,
): Promise<void> {
  const form = outputForm(invocation);
  const whole = stats === null ? queue : { ...queue, stats };
  await io.out(form === "table" ? renderQueue(queue, stats) : renderJson(whole, form));
}
