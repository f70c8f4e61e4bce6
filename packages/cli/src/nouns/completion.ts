import { Argument } from "commander";
import { type CommandBody, type DescribedCommand, requiredArg } from "../command.js";
import { completionScript, shells } from "../completion-script.js";

/** `describeAll` loads every module of the command line, and so is passed in. */
export const completionOf = (describeAll: () => Promise<readonly DescribedCommand[]>): CommandBody => ({
  define: (target) => target.addArgument(new Argument("<shell>", "the shell that it is for").choices(shells)),
  notes: `
Completes nouns, verbs, flags and their choices. Load it from the start file of the shell, or store it where the shell reads completions.`,
  examples: [
    "source <(carillon completion bash)",
    "carillon completion bash > /etc/bash_completion.d/carillon",
    "echo 'source <(carillon completion zsh)' >> ~/.zshrc",
    "carillon completion fish > ~/.config/fish/completions/carillon.fish",
  ],
  async run(io, invocation) {
    const shell = shells.find((one) => one === requiredArg(invocation, 0)) ?? "bash";
    await io.out(completionScript(shell, await describeAll()));
  },
});
