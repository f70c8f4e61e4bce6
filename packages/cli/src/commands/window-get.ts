import type { CommandModule } from "../command.js";
import { clientOf } from "../client.js";
import { printWindow, windowArgument, withWindowArgument } from "../input/window-argument.js";

export const command: CommandModule = {
  define(target) {
    withWindowArgument(target).addHelpText(
      "after",
      `
Example:
  $ carillon window get sunday-night`,
    );
  },
  async run(io, invocation) {
    await printWindow(
      io,
      invocation,
      await clientOf(io, invocation).maintenanceWindows.get(windowArgument(invocation)),
    );
  },
};
