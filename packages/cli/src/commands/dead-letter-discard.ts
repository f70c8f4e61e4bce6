import { type CommandModule, flagOption } from "../command.js";
import { actOnAll, oneDeadLetter, showOne, withDeadLetterAction } from "../dead-letter-action.js";
import { ExitCode } from "../exit-codes.js";
import { clientOf } from "../client.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withDeadLetterAction(target).addHelpText(
      "after",
      `
They are no longer listed; the runs stay in history, and a retry undoes it.

Examples:
  $ carillon dead-letter discard run_01k9zq3v5e0r8t2b7n4m6x1c9d
  $ carillon dead-letter discard --fingerprint 9f86d081884c7d65`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = oneDeadLetter(invocation);
    if (id === undefined) {
      const isWhole = await actOnAll(io, invocation, client, {
        done: "discarded",
        instead: "one is retried with carillon run retry <id>",
        act: (one) => client.deadLetters.discardMany(one),
      });
      return isWhole ? ExitCode.ok : ExitCode.failure;
    }
    if (flagOption(invocation, "dryRun")) {
      await showOne(io, invocation, await client.runs.get(id), "discarded");
      return ExitCode.ok;
    }
    await client.deadLetters.discard(id);
    printUndo(io, invocation, "discarded", `run retry ${id}`);
    return ExitCode.ok;
  },
};
