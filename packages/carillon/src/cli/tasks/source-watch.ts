import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import type { Timers } from "@carillon/core";

const source = /\.(?:[cm]?[jt]sx?|json)$/;
const ignored = /^(?:\.|node_modules$)/;
/** An editor writes a file in several steps; a checkout writes many files. */
const settleMs = 150;
const mostFolders = 500;

/** Tells of changes to the source files below a folder, once for those that come together. */
export class SourceWatch {
  readonly #root: string;
  readonly #timers: Timers;
  readonly #onChange: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: unknown = null;

  constructor(root: string, timers: Timers, onChange: () => void) {
    this.#root = root;
    this.#timers = timers;
    this.#onChange = onChange;
    this.#watchFolders();
  }

  close(): void {
    this.#timers.clearTimeout(this.#timer);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Folders of packages and hidden ones are left out: the system's own recursion would walk them all. */
  #watchFolders(): void {
    for (const folder of foldersBelow(this.#root)) {
      if (this.#watchers.has(folder) || this.#watchers.size >= mostFolders) continue;
      const watcher = watch(folder, (_event, name) => this.#changed(name ?? ""));
      watcher.on("error", () => this.#watchers.delete(folder));
      this.#watchers.set(folder, watcher);
    }
  }

  #changed(name: string): void {
    const isFolder = !name.includes(".");
    if (!source.test(name) && !isFolder) return;
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => {
      this.#watchFolders();
      this.#onChange();
    }, settleMs);
  }
}

function foldersBelow(root: string): string[] {
  const found = [root];
  for (let at = 0; at < found.length && found.length < mostFolders; at++) {
    const folder = found[at] ?? root;
    for (const entry of namesIn(folder)) found.push(join(folder, entry));
  }
  return found;
}

/** A folder that is gone by now has none. */
function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !ignored.test(entry.name)).map((entry) => entry.name);
  } catch {
    return [];
  }
}
