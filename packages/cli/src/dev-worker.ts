import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isObject, systemTimers } from "@carillon/core";
import type { Io } from "./io.js";
import { type ImportedFile, importedFile } from "./import-trace.js";
import type { Companion } from "./node-process.js";
import { SourceWatch } from "./source-watch.js";

const program = fileURLToPath(new URL("./process.js", import.meta.url));
const isServing = /^carillon: serving /;

export interface DevWorkerOptions {
  /** The absolute path of the module with the tasks. */
  readonly entry: string;
  /** Flags for `carillon worker start`. */
  readonly args: readonly string[];
}

/**
 * The user's tasks beside a node of `carillon dev`, in a process of their own. When a file changes that they import, a new process
 * takes over as soon as it has loaded; the old one lets its handlers end. If the new code does not load, the old one stays.
 */
export class DevWorker implements Companion {
  readonly #io: Io;
  readonly #options: DevWorkerOptions;
  /** Imports name files without symbolic links. */
  readonly #entryFile: string;
  /** Each with the files that it imports. */
  readonly #processes = new Map<ChildProcess, Set<string>>();
  #watch: SourceWatch | null = null;
  #current: ChildProcess | null = null;
  #newest: ChildProcess | null = null;
  #url = "";

  constructor(io: Io, options: DevWorkerOptions) {
    this.#io = io;
    this.#options = options;
    this.#entryFile = realpathSync(options.entry);
  }

  start({ url }: { readonly url: string }): void {
    this.#url = url;
    this.#watch = new SourceWatch(systemTimers, (paths) => {
      this.#io.info(`carillon: ${named(paths, this.#io.cwd)} changed; the tasks are loaded again`);
      this.#spawn();
    });
    this.#watch.add(importedFile(this.#entryFile));
    this.#spawn();
  }

  async stop(): Promise<void> {
    this.#watch?.close();
    const ends = [...this.#processes.keys()].map((child) => once(child, "exit"));
    for (const child of this.#processes.keys()) child.kill("SIGTERM");
    await Promise.all(ends);
  }

  abandon(): void {
    for (const child of this.#processes.keys()) child.kill("SIGKILL");
  }

  #spawn(): void {
    const { entry, args } = this.#options;
    const command = [...process.execArgv, program, "worker", "start", entry, "--url", this.#url, ...args];
    // The worker reports its imports on the channel, and stops when it closes, even if this process was killed.
    const stdio = ["ignore", "inherit", "pipe", "ipc"] as const;
    const child = spawn(process.execPath, command, { cwd: this.#io.cwd, env: { ...this.#io.env }, stdio: [...stdio] });
    const imported = new Set([this.#entryFile]);
    this.#processes.set(child, imported);
    this.#newest = child;
    if (child.stderr === null) throw new Error("the worker has no standard error");
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#io.info(line);
      if (isServing.test(line)) this.#onServing(child);
    });
    child.on("message", (message) => {
      if (!isImportedFile(message) || child !== this.#newest) return;
      imported.add(message.path);
      this.#watch?.add(message);
    });
    child.on("exit", (code) => this.#onExit(child, code));
  }

  /** A process that a newer one replaced before it served is stopped as well. */
  #onServing(child: ChildProcess): void {
    if (child !== this.#newest) {
      child.kill("SIGTERM");
      return;
    }
    this.#current?.kill("SIGTERM");
    this.#current = child;
    this.#watch?.keep(this.#processes.get(child) ?? new Set());
  }

  #onExit(child: ChildProcess, code: number | null): void {
    this.#processes.delete(child);
    if (child === this.#current) this.#current = null;
    if (code !== 0 && child === this.#newest)
      this.#io.info(
        `carillon: ${this.#current === null ? "no tasks are served" : "the tasks are served as they were before"}; ` +
          "a change of a file that they import loads them again",
      );
  }
}

function isImportedFile(message: unknown): message is ImportedFile {
  return isObject(message) && typeof message["path"] === "string" && "mtimeMs" in message;
}

/** At most three names. */
function named(paths: readonly string[], cwd: string): string {
  const names = paths.map((path) => shownPath(path, cwd));
  const [first = "", second, third] = names;
  if (names.length <= 3) return [first, second, third].filter((name) => name !== undefined).join(", ");
  return `${first}, ${second} and ${names.length - 2} other files`;
}

function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith("..") ? path : inside;
}
