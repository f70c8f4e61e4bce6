import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { systemSoon } from "@carillon/core";
import { isTask, type Task, task as defineTask, workerTask } from "@carillon/worker";
import { CliError, ExitCode, usageError } from "./exit-codes.js";
import { type ImportedFile, importedFile, traceImports } from "./import-trace.js";
import { describeLoadError, fileOfLoadError, ParseFailures } from "./load-error.js";

/** Called for each file that the module imports, itself included. */
type OnImport = (file: ImportedFile) => void;

/**
 * The tasks that a module exports: what `task()` made, and every other export that has a name and a function `run`, singly, in a
 * list or in an object, the default export included.
 */
export async function loadTasks(entry: string, cwd: string, onImport?: OnImport): Promise<Task[]> {
  const path = tasksPath(entry, cwd);
  if (/\.[cm]?tsx?$/.test(path)) await readTypeScript(path);
  const tasks = await importModule(path, onImport)
    .then(tasksIn)
    .catch((error: unknown) => {
      throw settingError(error, path) ?? error;
    });
  if (tasks.length === 0) {
    throw usageError(
      `${path} exports no tasks. A task is an object with a name and a function run, such as\n` +
        `  export const hello = { name: "hello", run: async (payload) => payload };`,
    );
  }
  refuseDuplicates(tasks, path);
  return tasks;
}

/** The module's absolute path; the file must exist. */
export function tasksPath(entry: string, cwd: string): string {
  const path = resolve(cwd, entry);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw usageError(`There is no file ${path}.`);
  return path;
}

async function importModule(path: string, onImport: OnImport | undefined): Promise<object> {
  const failures = new ParseFailures();
  const reportRest = onImport && traceImports(path, onImport);
  try {
    return (await import(pathToFileURL(path).href)) as object;
  } catch (error) {
    const faulty = onImport && fileOfLoadError(error, failures.file);
    if (faulty) onImport?.(importedFile(faulty));
    const reason = `${path} cannot be loaded: ${describeLoadError(error, failures.file)}`;
    throw settingError(error, path) ?? new CliError(ExitCode.config, reason, { cause: error });
  } finally {
    failures.close();
    reportRest?.();
  }
}

function tasksIn(exported: object): Task[] {
  const found = new Set<object>();
  for (const value of Object.values(exported) as unknown[]) {
    if (taskOf(value) !== null) found.add(value as object);
    else if (typeof value === "object" && value !== null)
      for (const member of Object.values(value) as unknown[]) if (taskOf(member) !== null) found.add(member as object);
  }
  return [...found].map(taskOf).filter((task) => task !== null);
}

/** What `task()` made, or an object with a name and a function `run`, which has the same options. */
function taskOf(value: unknown): Task | null {
  if (typeof value !== "object" || value === null || !("name" in value)) return null;
  if (typeof value.name !== "string" || value.name === "") return null;
  if (isTask(value)) return workerTask(value, systemSoon);
  return "run" in value && typeof value.run === "function" ? workerTask(defineTask(value as never), systemSoon) : null;
}

/** The error of a task with a wrong option, with its place; null for any other error. The module may use its own copy of the SDK. */
export function settingError(error: unknown, path: string): CliError | null {
  if (!(error instanceof Error) || error.name !== "CarillonError") return null;
  if (!("code" in error) || error.code !== "config_invalid") return null;
  return new CliError(ExitCode.config, `${callerOf(error) ?? path}: ${error.message}`, { cause: error });
}

const stackFrame = /^ +at (?:.*\()?((?:file:)?[\\/].*|[A-Za-z]:[\\/].*):(\d+):\d+\)?$/gm;

/** The file and line of the call in the user's own code; undefined if there is none in the stack. */
function callerOf({ stack = "" }: Error): string | undefined {
  for (const [, place = "", line = ""] of stack.matchAll(stackFrame)) {
    const path = place.startsWith("file:") ? fileURLToPath(place) : place;
    if (!path.startsWith(packages) && !/[\\/]node_modules[\\/]/.test(path)) return `${path}:${line}`;
  }
  return undefined;
}

export function refuseDuplicates(tasks: readonly Task[], whose: string): void {
  const names = tasks.map((task) => task.name);
  const double = names.find((name, index) => names.indexOf(name) !== index);
  if (double !== undefined) throw usageError(`${whose} has two tasks named ${JSON.stringify(double)}.`);
}

/** The folder of this package, and of its neighbours. */
const packages = fileURLToPath(new URL("../..", import.meta.url));

interface Loader {
  readonly register: () => unknown;
}

/** Makes imports of TypeScript work: newer Nodes read it themselves, older ones need tsx in the user's own project. */
export async function readTypeScript(path: string): Promise<void> {
  if ("typescript" in process.features && process.features.typescript !== false) return;
  let loader: string;
  try {
    loader = createRequire(path).resolve("tsx/esm/api");
  } catch (cause) {
    throw usageError(
      `This Node (${process.version}) does not read TypeScript. Use Node 22.18 or newer, or add tsx to your project ` +
        `(npm install --save-dev tsx), or compile ${path} and give the .js file.`,
      { cause },
    );
  }
  const { register } = (await import(pathToFileURL(loader).href)) as Loader;
  register();
}
