import type { Command } from "commander";
import { CliError } from "../cli-error.js";
import { type CommandModule, requiredArg } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { type CommandTree, completionScript, shells } from "../output/completion-script.js";

/** Read when the command is entered: the whole command line is known by then. */
let words: CommandTree = new Map();

export const command: CommandModule = {
  define(target) {
    words = treeOf(target.parent);
    target.argument("<shell>", shells.join(", ")).addHelpText(
      "after",
      `
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
    await io.out(completionScript(shell, words));
  },
};

function treeOf(program: Command | null): CommandTree {
  const named = (program?.commands ?? []).map((one) => [one.name(), one.commands.map((verb) => verb.name())] as const);
  return new Map(named);
}
