import { clientOf, withServerAddress } from "../client.js";
import { type CommandModule, requiredArg } from "../command.js";
import { levelOption, withLevel } from "../flags.js";
import { outputForm, renderJson, withOutputForm } from "../output.js";
import { renderRun } from "../output/run-view.js";
import { exitCodeOfRun, waitLimitMs, withWatchLimit } from "../wait-for-run.js";
import { watchRun } from "../watch-run.js";

export const command: CommandModule = {
  define(target) {
    withWatchLimit(withServerAddress(withOutputForm(withLevel(target.argument("<run>", "its id"))))).addHelpText(
      "after",
      `
Shows what the run logs and how far it is until it has ended. Exit code 0 if it succeeded, 6 if it failed, 7 if it was
cancelled, 8 if it was not over in --wait-seconds. While the server is away it asks again for a minute. With -o json the run itself is printed at the end, and its log goes to standard error.

Example:
  $ carillon run watch run_01k9zq3v5e0r8t2b7n4m6x1c9d`,
    );
  },
  async run(io, invocation) {
    const form = outputForm(invocation);
    const level = levelOption(invocation);
    const talkLines = async (text: string): Promise<void> => {
      if (text !== "") io.info(text.trimEnd());
    };
    const run = await watchRun(io, clientOf(io, invocation), requiredArg(invocation, 0), {
      print: form === "table" ? (text) => io.out(text) : talkLines,
      ...(level !== undefined && { level }),
      limitMs: waitLimitMs(invocation),
    });
    await io.out(form === "table" ? renderRun(run) : renderJson(run, form));
    return exitCodeOfRun(run);
  },
};
