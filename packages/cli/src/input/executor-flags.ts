import type { Command } from "commander";
import { CliError } from "../cli-error.js";
import { flagOption, type Invocation, textOption } from "../command.js";
import { ExitCode } from "../exit-codes.js";
import { type ExecutorChoice, executorNames } from "../tasks/load-executors.js";

/** Which executors a worker has. */
export function withExecutorFlags(command: Command): Command {
  return command
    .option("--executors <list>", `executors to serve: ${executorNames.join(", ")}`)
    .option("--enable-shell", "serve the executor shell: jobs may run commands on this machine")
    .option("--shell-env <list>", "variables of this process that commands are given (default: PATH, HOME, LANG …)")
    .option("--plugin <module...>", "packages or files with executors of others");
}

export function executorChoice(invocation: Invocation): ExecutorChoice {
  const shellEnv = wordsOf(textOption(invocation, "shellEnv"));
  const plugins = invocation.options["plugin"];
  const shell = flagOption(invocation, "enableShell");
  if (shellEnv !== undefined && !shell) throw new CliError(ExitCode.usage, "--shell-env needs --enable-shell");
  return {
    names: (wordsOf(textOption(invocation, "executors")) ?? []).map(nameOf),
    shell,
    ...(shellEnv !== undefined && { shellEnv }),
    plugins: Array.isArray(plugins) ? (plugins as string[]) : [],
  };
}

function nameOf(word: string): ExecutorChoice["names"][number] {
  const name = executorNames.find((one) => one === word);
  if (name !== undefined) return name;
  const why = word === "shell" ? "shell is switched on by --enable-shell" : `there are ${executorNames.join(", ")}`;
  throw new CliError(ExitCode.usage, `--executors: ${JSON.stringify(word)} is none; ${why}`);
}

function wordsOf(text: string | undefined): string[] | undefined {
  return text?.split(",").map((word) => word.trim());
}
