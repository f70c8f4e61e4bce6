import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type FSWatcher, readdirSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Timers, systemTimers } from "@carillon/core";
import type { Io } from "./io.js";
import type { Companion } from "./node-process.js";

const program = fileURLToPath(new URL("./process.js", import.meta.url));
const isServing = /^carillon: serving /;

export interface DevWorkerOptions {
  /** The absolute path of the module with the tasks. */
  readonly entry: string;
  /** Flags for `carillon worker start`. */
  readonly args: readonly string[];
}

/**
 * The user's tasks beside a node of `carillon dev`, in a process of their own. When a source file changes, a new process takes
 * over as soon as it has loaded; the old one lets its handlers end. If the new code does not load, the old one stays.
 */
export class DevWorker implements Companion {
  readonly #io: Io;
  readonly #options: DevWorkerOptions;
  readonly #processes = new Set<ChildProcess>();
  #watch: SourceWatch | null = null;
  #current: ChildProcess | null = null;
  #newest: ChildProcess | null = null;
  #url = "";

  constructor(io: Io, options: DevWorkerOptions) {
    this.#io = io;
    this.#options = options;
  }

  start({ url }: { readonly url: string }): void {
    this.#url = url;
    this.#watch = new SourceWatch(dirname(this.#options.entry), systemTimers, () => {
      this.#io.info("carillon: a source file changed; the tasks are loaded again");
      this.#spawn();
    });
    this.#spawn();
  }

  async stop(): Promise<void> {
    this.#watch?.close();
    const ends = [...this.#processes].map((child) => once(child, "exit"));
    for (const child of this.#processes) child.kill("SIGTERM");
    await Promise.all(ends);
  }

  abandon(): void {
    for (const child of this.#processes) child.kill("SIGKILL");
  }

  #spawn(): void {
    const { entry, args } = this.#options;
    const command = [...process.execArgv, program, "worker", "start", entry, "--url", this.#url, ...args];
    // The channel carries nothing: the worker stops when it closes, even if this process was killed.
    const stdio = ["ignore", "inherit", "pipe", "ipc"] as const;
    const child = spawn(process.execPath, command, { cwd: this.#io.cwd, env: { ...this.#io.env }, stdio: [...stdio] });
    this.#processes.add(child);
    this.#newest = child;
    if (child.stderr === null) throw new Error("the worker has no standard error");
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.#io.info(line);
      if (isServing.test(line)) this.#onServing(child);
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
  }

  #onExit(child: ChildProcess, code: number | null): void {
    this.#processes.delete(child);
    if (child === this.#current) this.#current = null;
    if (code !== 0 && child === this.#newest)
      this.#io.info("carillon: the worker ended; a change of a source file starts it again");
  }
}

const source = /\.(?:[cm]?[jt]sx?|json)$/;
const ignored = /^(?:\.|node_modules$)/;
/** An editor writes a file in several steps, and a checkout writes many files: one notification is enough. */
const settleMs = 150;
const maxFolders = 500;

interface Watched {
  readonly watcher: FSWatcher;
  /** Whether the folder has or had source files. */
  hasSources: boolean;
}

/** Watches the source files below a folder; changes within a short time are one notification. */
export class SourceWatch {
  readonly #root: string;
  readonly #timers: Timers;
  readonly #onChange: () => void;
  readonly #watched = new Map<string, Watched>();
  #timer: unknown = null;
  #isSourceChanged = false;

  constructor(root: string, timers: Timers, onChange: () => void) {
    this.#root = root;
    this.#timers = timers;
    this.#onChange = onChange;
    this.#watchFolders();
  }

  close(): void {
    this.#timers.clearTimeout(this.#timer);
    for (const { watcher } of this.#watched.values()) watcher.close();
    this.#watched.clear();
  }

  /**
   * Watches new folders and drops deleted ones; returns whether source files were added or deleted with them. Folders of packages and
   * hidden folders are skipped, which the system's own recursion would not do.
   */
  #watchFolders(): boolean {
    const there = new Set(foldersBelow(this.#root));
    let isChanged = false;
    for (const [folder, { watcher, hasSources }] of this.#watched) {
      if (there.has(folder)) continue;
      watcher.close();
      this.#watched.delete(folder);
      isChanged ||= hasSources;
    }
    for (const folder of there) {
      if (this.#watched.has(folder) || this.#watched.size >= maxFolders) continue;
      const hasSources = this.#watch(folder);
      isChanged ||= hasSources;
    }
    return isChanged;
  }

  #watch(folder: string): boolean {
    const hasSources = sourcesIn(folder);
    const watcher = watch(folder, (_event, name) => this.#changed(folder, name ?? ""));
    watcher.on("error", () => this.#watched.delete(folder));
    this.#watched.set(folder, { watcher, hasSources });
    return hasSources;
  }

  /** A name without an extension may be a folder, or a file that a task writes: that is checked after the changes have settled. */
  #changed(folder: string, name: string): void {
    const isSource = source.test(name);
    if (!isSource && name.includes(".")) return;
    const watched = this.#watched.get(folder);
    if (isSource && watched !== undefined) watched.hasSources = true;
    this.#isSourceChanged ||= isSource;
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => {
      const isChanged = this.#watchFolders() || this.#isSourceChanged;
      this.#isSourceChanged = false;
      if (isChanged) this.#onChange();
    }, settleMs);
  }
}

function foldersBelow(root: string): string[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < maxFolders; at++) {
    const folder = found[at] ?? root;
    for (const entry of namesIn(folder)) found.push(join(folder, entry));
  }
  return found;
}

/** None if the folder has been deleted meanwhile. */
function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !ignored.test(entry.name)).map((entry) => entry.name);
  } catch {
    return [];
  }
}

function sourcesIn(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => source.test(name));
  } catch {
    return false;
  }
}
