import type { WindowPut } from "@carillon/contract";
import { clientOf, found } from "../client.js";
import { type CommandModule, requiredArg } from "../command.js";
import { readJsonArgument } from "../flags.js";
import { printWindow, putCommand, windowArgument, withWindowArgument } from "../input/window-argument.js";
import { printUndo, shellWord } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withWindowArgument(target)
      .argument("<json>", "when it is open, for which jobs, and what it does; @file reads a file, - standard input")
      .addHelpText(
        "after",
        `
Makes the window or replaces it; jobs follow at once.

Examples:
  $ carillon window put sunday-night '{"mode":"hold","queue":"mail","cron":"0 2 * * SUN","duration":"2h"}'
  $ carillon window put move '{"mode":"skip","from":"2030-12-24T00:00:00Z","to":"2030-12-27T00:00:00Z"}'`,
      );
  },
  async run(io, invocation) {
    // What a window may be is the server's to judge.
    const body = (await readJsonArgument(io, requiredArg(invocation, 1), "<json>")) as WindowPut;
    const { maintenanceWindows: windows } = clientOf(io, invocation);
    const name = windowArgument(invocation);
    const before = await found(windows.get(name));
    await printWindow(io, invocation, await windows.put(name, body));
    const undo = before === null ? `window delete ${shellWord(name)}` : putCommand(before);
    printUndo(io, invocation, before === null ? "made" : "replaced", undo);
  },
};
