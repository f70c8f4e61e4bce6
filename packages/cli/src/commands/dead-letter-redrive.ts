import { type CommandModule, flagOption } from "../command.js";
import { actOnAll, oneDeadLetter, showOne, withDeadLetterAction } from "../dead-letter-action.js";
import { ExitCode } from "../exit-codes.js";
import { clientOf } from "../client.js";
import { outputForm, renderJson } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { printUndo } from "../undo.js";

export const command: CommandModule = {
  define(target) {
    withDeadLetterAction(target).addHelpText(
      "after",
      `
Each is retried once, as a new run; the overlap policy of its job is followed.

Examples:
  $ carillon dead-letter redrive run_01k9zq3v5e0r8t2b7n4m6x1c9d
  $ carillon dead-letter redrive --task email.welcome --dry-run`,
    );
  },
  async run(io, invocation) {
    const client = clientOf(io, invocation);
    const id = oneDeadLetter(invocation);
    if (id === undefined) {
      const isWhole = await actOnAll(io, invocation, client, {
        done: "retried",
        instead: "a new run is cancelled with carillon run cancel <new run>",
        act: (one) => client.deadLetters.redriveMany(one),
      });
      return isWhole ? ExitCode.ok : ExitCode.failure;
    }
    if (flagOption(invocation, "dryRun")) {
      await showOne(io, invocation, await client.runs.get(id), "retried");
      return ExitCode.ok;
    }
    const run = await client.runs.retry(id);
    const form = outputForm(invocation);
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    if (run.is_new) printUndo(io, invocation, "asked for", `run cancel ${run.id}`);
    else io.info("carillon: it had been retried before; this is that run");
    return ExitCode.ok;
  },
};
