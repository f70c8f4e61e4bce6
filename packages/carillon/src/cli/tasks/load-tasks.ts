import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Task } from "@carillon/worker";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";
import { readTypeScript } from "./read-typescript.js";

/**
 * The tasks that a module exports: every export that has a name and a function `run`, singly, in a list or in an object, the
 * default export included.
 */
export async function loadTasks(entry: string, cwd: string): Promise<Task[]> {
  const path = resolve(cwd, entry);
  if (!existsSync(path)) throw new CliError(ExitCode.usage, `there is no file ${path}`);
  if (/\.[cm]?tsx?$/.test(path)) await readTypeScript(path);
  const tasks = tasksIn(await importModule(path));
  if (tasks.length === 0) {
    throw new CliError(
      ExitCode.usage,
      `${path} exports no tasks; a task is an object with a name and a function run, such as\n` +
        `  export const hello = { name: "hello", run: async (payload) => payload };`,
    );
  }
  refuseDoubles(tasks, path);
  return tasks;
}

async function importModule(path: string): Promise<object> {
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new CliError(ExitCode.failure, `${path} cannot be loaded: ${reason}`, { cause: error });
  }
}

function tasksIn(exported: object): Task[] {
  const found = new Set<Task>();
  for (const value of Object.values(exported) as unknown[]) {
    if (isTask(value)) found.add(value);
    else if (typeof value === "object" && value !== null)
      for (const member of Object.values(value) as unknown[]) if (isTask(member)) found.add(member);
  }
  return [...found];
}

function isTask(value: unknown): value is Task {
  if (typeof value !== "object" || value === null || !("name" in value) || !("run" in value)) return false;
  return typeof value.name === "string" && value.name !== "" && typeof value.run === "function";
}

function refuseDoubles(tasks: readonly Task[], path: string): void {
  const names = tasks.map((task) => task.name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined)
    throw new CliError(ExitCode.usage, `${path} exports two tasks named ${JSON.stringify(double)}`);
}
