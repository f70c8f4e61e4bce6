import type { Calendar } from "@carillon/contract";
import type { Command } from "commander";
import { withServerAddress } from "../client.js";
import { type Invocation, requiredArg } from "../command.js";
import type { Io } from "../io.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderFields } from "../table.js";
import { shellWord } from "../undo.js";

/** A command about one stored calendar. */
export function withCalendarArgument(command: Command): Command {
  return withServerAddress(withOutputForm(command.argument("<calendar>", "its name")));
}

export const calendarArgument = (invocation: Invocation): string => requiredArg(invocation, 0);

export async function printCalendar(io: Io, invocation: Invocation, calendar: Calendar): Promise<void> {
  const form = outputForm(invocation);
  const { name, version, rules } = calendar;
  const fields = [
    ["name", name],
    ["version", String(version)],
    ...rules.map((rule) => ["days", rule] as const),
  ] as const;
  await io.out(form === "table" ? renderFields(fields) : renderJson(calendar, form));
}

/** The command that stores it as it is now. */
export const putCommand = ({ name, rules }: Calendar): string =>
  `calendar put ${shellWord(name)} ${shellWord(JSON.stringify({ rules }))}`;
