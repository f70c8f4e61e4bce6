import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  airflowExecutor,
  createExecutorHost,
  dockerExecutor,
  emailExecutor,
  executorNames,
  httpExecutor,
  kubernetesExecutor,
  lambdaExecutor,
  shellExecutor,
} from "@carillon/executors";
import type { CreateExecutors, Executor, ExecutorHost, Task, WorkerTimers } from "@carillon/worker";
import type { Command } from "commander";
import { type Invocation, flagOption, textOption } from "./command.js";
import { type CliError, usageError } from "./exit-codes.js";
import { readTypeScript } from "./load-tasks.js";

export type ExecutorName = (typeof executorNames)[number];

/**
 * Executors that come with Carillon and are chosen by name. They throw config_invalid if they need a library that is not installed; the
 * first run loads it.
 */
const ownExecutors: Readonly<Record<ExecutorName, (host: ExecutorHost) => Task>> = {
  http: httpExecutor,
  email: emailExecutor,
  docker: dockerExecutor,
  kubernetes: kubernetesExecutor,
  lambda: lambdaExecutor,
  airflow: airflowExecutor,
};

export type ExecutorChoice = ReturnType<typeof executorChoice>;

export interface ExecutorSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timers: WorkerTimers;
  readonly outboundAllowlist: readonly string[];
  readonly callbackBase: () => string | null;
}

/** The executors that the flags choose. */
export async function loadExecutors(choice: ExecutorChoice, around: ExecutorSurroundings): Promise<Task[]> {
  const { cwd, env } = around;
  const host = createExecutorHost(around);
  const found: Task[] = choice.names.map((name) => ownExecutors[name](host));
  if (choice.shell) {
    const passEnv = choice.shellEnv;
    found.push(shellExecutor({ ...host, env }, { cwd, ...(passEnv !== undefined && { passEnv }) }));
  }
  for (const plugin of choice.plugins) found.push(...(await pluginIn(plugin, cwd, host)));
  return found;
}

/** A path is relative to the working directory; a package is resolved from there first. */
async function pluginIn(plugin: string, cwd: string, host: ExecutorHost): Promise<readonly Executor[]> {
  const path = resolvedFrom(cwd, plugin);
  if (path !== null && /\.[cm]?tsx?$/.test(path)) await readTypeScript(path);
  const exported = await imported(plugin, path === null ? plugin : pathToFileURL(path).href);
  const create: unknown = "createExecutors" in exported ? exported.createExecutors : undefined;
  const executors: unknown = typeof create === "function" ? (create as CreateExecutors)(host) : undefined;
  if (Array.isArray(executors) && executors.length > 0 && executors.every(isExecutor)) return executors;
  throw usageError(
    `${plugin} is no plugin. It must export a function createExecutors that returns a list of { name, check, run }.`,
  );
}

function resolvedFrom(cwd: string, name: string): string | null {
  try {
    return createRequire(join(cwd, "package.json")).resolve(name);
  } catch {
    return null;
  }
}

async function imported(name: string, specifier: string): Promise<object> {
  try {
    return (await import(specifier)) as object;
  } catch (error) {
    throw unreadable(name, error);
  }
}

const missing = new Set<unknown>(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"]);

function unreadable(name: string, error: unknown): CliError {
  const isMissing = error instanceof Error && "code" in error && missing.has(error.code);
  const reason = error instanceof Error ? error.message : String(error);
  const hint = isMissing && !name.startsWith(".") ? ` (npm install ${name})` : "";
  return usageError(`${name} cannot be loaded${hint}: ${reason}`, { cause: error });
}

function isExecutor(value: unknown): value is Executor {
  if (typeof value !== "object" || value === null || !("name" in value && "check" in value && "run" in value))
    return false;
  const { name, check, run } = value;
  return typeof name === "string" && name !== "" && typeof check === "function" && typeof run === "function";
}

/** Which executors a worker has. */
export function withExecutorFlags(command: Command): Command {
  return command
    .option("--executors <list>", `executors to serve: ${executorNames.join(", ")}`)
    .option("--enable-shell", "serve the executor shell: jobs may run commands on this machine")
    .option("--shell-env <list>", "variables of this process that commands get (default: PATH, HOME, LANG …)")
    .option("--plugin <module...>", "packages or files that export executors");
}

export function executorChoice(invocation: Invocation) {
  const shellEnv = wordsOf(textOption(invocation, "shellEnv"));
  const plugins = invocation.options["plugin"];
  const shell = flagOption(invocation, "enableShell");
  if (shellEnv !== undefined && !shell) throw usageError("The flag --shell-env needs --enable-shell.");
  return {
    names: (wordsOf(textOption(invocation, "executors")) ?? []).map(nameOf),
    // Whether jobs may run commands on this machine.
    shell,
    // Variables of this process that commands get.
    ...(shellEnv !== undefined && { shellEnv }),
    // Packages or modules that export createExecutors.
    plugins: Array.isArray(plugins) ? (plugins as string[]) : [],
  };
}

function nameOf(word: string): ExecutorName {
  const name = executorNames.find((one) => one === word);
  if (name !== undefined) return name;
  const why = word === "shell" ? "The flag --enable-shell enables shell." : `There are ${executorNames.join(", ")}.`;
  throw usageError(`--executors: ${JSON.stringify(word)} is no executor. ${why}`);
}

function wordsOf(text: string | undefined): string[] | undefined {
  return text?.split(",").map((word) => word.trim());
}
