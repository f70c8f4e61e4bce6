import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createExecutorHost, emailExecutor, httpExecutor, shellExecutor } from "@carillon/executors";
import type { CreateExecutors, Executor, ExecutorHost, Task, WorkerTimers } from "@carillon/worker";
import { CliError } from "../cli-error.js";
import { ExitCode } from "../exit-codes.js";
import { readTypeScript } from "./read-typescript.js";

/** Executors that come with Carillon and are chosen by name. */
export const executorNames = ["http", "email", "docker", "kubernetes", "lambda", "airflow"] as const;

export type ExecutorName = (typeof executorNames)[number];

export interface ExecutorChoice {
  readonly names: readonly ExecutorName[];
  /** Commands of this machine may be run. */
  readonly shell: boolean;
  /** Variables that commands are given. */
  readonly shellEnv?: readonly string[];
  /** Packages or modules that export createExecutors. */
  readonly plugins: readonly string[];
}

export interface ExecutorSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timers: WorkerTimers;
  readonly outboundAllow: readonly string[];
  readonly callbackBase: () => string | null;
}

/** The executors that a worker was told to have. */
export async function loadExecutors(choice: ExecutorChoice, around: ExecutorSurroundings): Promise<Task[]> {
  const { cwd, env } = around;
  const host = createExecutorHost(around);
  const found: Task[] = await Promise.all(choice.names.map((name) => named(name, host)));
  if (choice.shell) {
    const passEnv = choice.shellEnv;
    found.push(shellExecutor({ ...host, env }, { cwd, ...(passEnv !== undefined && { passEnv }) }));
  }
  for (const plugin of choice.plugins) found.push(...(await pluginIn(plugin, cwd, host)));
  return found;
}

/** Throws config_invalid if the executor needs a library that is not installed; the library itself is loaded by the first run. */
async function named(name: ExecutorName, host: ExecutorHost): Promise<Task> {
  if (name === "http") return httpExecutor(host);
  if (name === "email") return emailExecutor(host);
  const specifier = `@carillon/executors/${name}`;
  const { createExecutors } = (await import(specifier)) as { createExecutors: CreateExecutors };
  const executor = createExecutors(host).find((one) => one.name === name);
  if (executor === undefined) throw new Error(`${specifier} has no executor named ${name}`);
  return executor;
}

/** A file or a folder counts from the working directory; a package is looked for from there first. */
async function pluginIn(plugin: string, cwd: string, host: ExecutorHost): Promise<readonly Executor[]> {
  const path = resolvedFrom(cwd, plugin);
  if (path !== null && /\.[cm]?tsx?$/.test(path)) await readTypeScript(path);
  const exported = await imported(plugin, path === null ? plugin : pathToFileURL(path).href);
  const create: unknown = "createExecutors" in exported ? exported.createExecutors : undefined;
  const executors: unknown = typeof create === "function" ? (create as CreateExecutors)(host) : undefined;
  if (Array.isArray(executors) && executors.length > 0 && executors.every(isExecutor)) return executors;
  throw new CliError(
    ExitCode.usage,
    `${plugin} is no plugin: it must export a function createExecutors that answers a list of { name, check, run }`,
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
  return new CliError(ExitCode.usage, `${name} cannot be loaded${hint}: ${reason}`, { cause: error });
}

function isExecutor(value: unknown): value is Executor {
  if (typeof value !== "object" || value === null || !("name" in value && "check" in value && "run" in value))
    return false;
  const { name, check, run } = value;
  return typeof name === "string" && name !== "" && typeof check === "function" && typeof run === "function";
}
