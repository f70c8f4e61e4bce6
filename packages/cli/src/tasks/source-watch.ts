import { type FSWatcher, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import type { Timers } from "@carillon/core";

const source = /\.(?:[cm]?[jt]sx?|json)$/;
const ignored = /^(?:\.|node_modules$)/;
/** An editor writes a file in several steps; a checkout writes many files. */
const settleMs = 150;
const mostFolders = 500;

interface Watched {
  readonly watcher: FSWatcher;
  /** Whether there are or were source files in it. */
  hasSources: boolean;
}

/** Tells of changes to the source files below a folder, once for those that come together. */
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
   * Watches folders that came, forgets those that went; answers whether source files came or went with them. Folders of packages and
   * hidden ones are left out: the system's own recursion would walk them all.
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
      if (this.#watched.has(folder) || this.#watched.size >= mostFolders) continue;
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

  /** What has no ending may be a folder that came or went, or a file that a task writes: that is looked at when all is quiet. */
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

function sourcesIn(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => source.test(name));
  } catch {
    return false;
  }
}
