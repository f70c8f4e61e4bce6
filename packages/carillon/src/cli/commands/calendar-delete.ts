import type { CommandModule } from "../command.js";
import { calendarArgument, putCommand } from "../input/calendar-argument.js";
import { clientOf, withServerAddress } from "../input/server-address.js";
import { sayUndo } from "../output/undo.js";

export const command: CommandModule = {
  define(target) {
    withServerAddress(target.argument("<calendar>", "its name")).addHelpText(
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
    sayUndo(io, invocation, "deleted", putCommand(before));
  },
};
