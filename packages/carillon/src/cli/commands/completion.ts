import { CliError } from "../cli-error.js";
import { type CommandModule, requiredArg } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { completionScript, shells } from "../output/completion-script.js";

export const command: CommandModule = {
  define(target) {
    target.argument("<shell>", shells.join(", ")).addHelpText(
      "after",
      `
Completes nouns, verbs and flags.

Examples:
  $ carillon completion bash > /etc/bash_completion.d/carillon
  $ carillon completion fish > ~/.config/fish/completions/carillon.fish`,
    );
  },
  async run(io, invocation) {
    const given = requiredArg(invocation, 0);
    const shell = shells.find((one) => one === given);
    if (shell === undefined) {
      throw new CliError(ExitCode.usage, `${JSON.stringify(given)} is not one of ${shells.join(", ")}`);
    }
    await io.out(completionScript(shell, await invocation.describeAll()));
  },
};
