import { Argument } from "commander";
import { type CommandModule, requiredArg } from "../command.js";
import { completionScript, shells } from "../completion-script.js";

export const command: CommandModule = {
  define(target) {
    target.addArgument(new Argument("<shell>", "the shell that it is for").choices(shells)).addHelpText(
      "after",
      `
Completes nouns, verbs, flags and their choices. Load it from the start file of the shell, or store it where the shell looks.

Examples:
  $ source <(carillon completion bash)
  $ carillon completion bash > /etc/bash_completion.d/carillon
  $ echo 'source <(carillon completion zsh)' >> ~/.zshrc
  $ carillon completion fish > ~/.config/fish/completions/carillon.fish`,
    );
  },
  async run(io, invocation) {
    const shell = shells.find((one) => one === requiredArg(invocation, 0)) ?? "bash";
    await io.out(completionScript(shell, await invocation.describeAll()));
  },
};
