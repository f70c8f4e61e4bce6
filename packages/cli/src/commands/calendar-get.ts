import type { CommandModule } from "../command.js";
import { calendarArgument, printCalendar, withCalendarArgument } from "../input/calendar-argument.js";
import { clientOf } from "../client.js";

export const command: CommandModule = {
  define(target) {
    withCalendarArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon calendar get closed-days`,
    );
  },
  async run(io, invocation) {
    await printCalendar(io, invocation, await clientOf(io, invocation).calendars.get(calendarArgument(invocation)));
  },
};
