import type { CalendarPut } from "@carillon/contract";
import { clientOf, found } from "../client.js";
import { type CommandModule, requiredArg } from "../command.js";
import { readJsonArgument } from "../flags.js";
import { calendarArgument, printCalendar, putCommand, withCalendarArgument } from "../input/calendar-argument.js";
import { printUndo, shellWord } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withCalendarArgument(target)
      .argument("<json>", "its rules; @file reads a file, - standard input")
      .addHelpText(
        "after",
        `
Makes the calendar or replaces it; jobs that name it follow at once.

Examples:
  $ carillon calendar put weekends '{"rules":[{"weekdays":["SAT","SUN"]}]}'
  $ carillon calendar put closed-days @closed-days.json`,
      );
  },
  async run(io, invocation) {
    // What a calendar may hold is the server's to judge.
    const body = (await readJsonArgument(io, requiredArg(invocation, 1), "<json>")) as CalendarPut;
    const { calendars } = clientOf(io, invocation);
    const name = calendarArgument(invocation);
    const before = await found(calendars.get(name));
    const calendar = await calendars.put(name, body, before === null ? {} : { ifVersion: before.version });
    await printCalendar(io, invocation, calendar);
    const undo = before === null ? `calendar delete ${shellWord(name)}` : putCommand(before);
    printUndo(io, invocation, before === null ? "made" : "replaced", undo);
  },
};
