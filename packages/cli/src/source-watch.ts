import { type FSWatcher, statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { Timers } from "@carillon/core";
import { type ImportedFile, importedFile } from "./import-trace.js";

/** An editor writes a file in several steps, and a checkout writes many files: one notification is enough. */
const settleMs = 150;

/** Watches files, also those that do not exist yet; changes within a short time are one notification. */
export class SourceWatch {
  readonly #timers: Timers;
  readonly #onChange: (paths: readonly string[]) => void;
  /** The files as they were last seen, by path. */
  readonly #files = new Map<string, ImportedFile["mtimeMs"]>();
  /** By folder: a file that an editor replaces is another file of the same name. */
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: unknown = null;

  constructor(timers: Timers, onChange: (paths: readonly string[]) => void) {
    this.#timers = timers;
    this.#onChange = onChange;
  }

  /** The file as it was imported: a change since then is noticed. */
  add({ path, mtimeMs }: ImportedFile): void {
    this.#files.set(path, mtimeMs);
    this.#watchFolderOf(path);
    if (importedFile(path).mtimeMs !== mtimeMs) this.#settle();
  }

  /** Forgets all other files. */
  keep(paths: ReadonlySet<string>): void {
    for (const path of this.#files.keys()) if (!paths.has(path)) this.#files.delete(path);
    this.#watchFolders();
  }

  close(): void {
    this.#timers.clearTimeout(this.#timer);
    this.#files.clear();
    this.#watchFolders();
  }

  #watchFolders(): void {
    const wanted = new Set([...this.#files.keys()].map(nearestFolder));
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const path of this.#files.keys()) this.#watchFolderOf(path);
  }

  #watchFolderOf(path: string): void {
    const folder = nearestFolder(path);
    if (this.#watchers.has(folder)) return;
    const watcher = watch(folder, () => this.#settle());
    watcher.on("error", () => {
      watcher.close();
      this.#watchers.delete(folder);
    });
    this.#watchers.set(folder, watcher);
  }

  /** Other files of the same folders change too: the times of the watched ones decide. */
  #settle(): void {
    this.#timers.clearTimeout(this.#timer);
    this.#timer = this.#timers.setTimeout(() => {
      const changed = [...this.#files.keys()]
        .map(importedFile)
        .filter(({ path, mtimeMs }) => this.#files.get(path) !== mtimeMs);
      for (const { path, mtimeMs } of changed) this.#files.set(path, mtimeMs);
      this.#watchFolders();
      if (changed.length > 0) this.#onChange(changed.map(({ path }) => path));
    }, settleMs);
  }
}

/** The folder of the file, or the first one above it that exists. */
function nearestFolder(path: string): string {
  const folder = dirname(path);
  const isThere = folder === dirname(folder) || statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isThere ? folder : nearestFolder(folder);
}
