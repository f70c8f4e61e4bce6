import type { Window } from "@carillon/contract";
import type { Command } from "commander";
import { withServerAddress } from "../client.js";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderFields } from "../table.js";
import { shellWord } from "../undo.js";

/** A command about one maintenance window. */
export function withWindowArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<window>", "its name")));
}

export const windowArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

export async function printWindow(io: Io, invocation: Invocation, window: Window): Promise<void> {
  const form = outputForm(invocation);
  const fields = [
    ["name", window.name],
    ["mode", window.mode],
    ["about", aboutOf(window)],
    ["open", openOf(window)],
  ] as const;
  await io.out(form === "table" ? renderFields(fields) : renderJson(window, form));
}

/** Which jobs it is about. */
export function aboutOf({ queue, labels = {} }: Window): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const words = [...(queue === undefined ? [] : [`queue ${queue}`]), ...(pairs.length === 0 ? [] : [pairs.join(",")])];
  return words.length === 0 ? "all jobs" : words.join(" and ");
}

export function openOf({ from, to, cron, time_zone: zone = "UTC", duration }: Window): string {
  return cron === undefined ? `${from ?? ""} to ${to ?? ""}` : `${cron} (${zone}) for ${duration ?? ""}`;
}

/** The command that stores it as it is now. */
export function putCommand({ name, mode, queue, labels, from, to, cron, time_zone: zone, duration }: Window): string {
  const body = { mode, queue, labels, from, to, cron, time_zone: zone, duration };
  return `window put ${shellWord(name)} ${shellWord(JSON.stringify(body))}`;
}
