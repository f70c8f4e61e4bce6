import type { CommandModule } from "../command.js";
import { clientOf } from "../client.js";
import { printWindow, putCommand, windowArgument, withWindowArgument } from "../input/window-argument.js";
import { outputForm } from "../output.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWindowArgument(target).addHelpText(
      "after",
      `
What it holds is fired.

Example:
  $ carillon window delete sunday-night`,
    );
  },
  async run(io, invocation) {
    const { maintenanceWindows: windows } = clientOf(io, invocation);
    const before = await windows.get(windowArgument(invocation));
    await windows.delete(before.name);
    if (outputForm(invocation) !== "table") await printWindow(io, invocation, before);
    printUndo(io, invocation, "deleted", putCommand(before));
  },
};
