import type { CommandModule } from "../command.js";
import { calendarArgument, printCalendar, putCommand, withCalendarArgument } from "../input/calendar-argument.js";
import { clientOf } from "../client.js";
import { outputForm } from "../output.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withCalendarArgument(target).addHelpText(
      "after",
      `
One that jobs use is not deleted.

Example:
  $ carillon calendar delete closed-days`,
    );
  },
  async run(io, invocation) {
    const { calendars } = clientOf(io, invocation);
    const before = await calendars.get(calendarArgument(invocation));
    await calendars.delete(before.name, { ifVersion: before.version });
    if (outputForm(invocation) !== "table") await printCalendar(io, invocation, before);
    printUndo(io, invocation, "deleted", putCommand(before));
  },
};
