import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const places = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
const library = "libfaketime.so.1";

/** The path of libfaketime; null if it is not installed, so that no clock can be moved. */
export function findFaketime(): string | null {
  for (const place of places) {
    for (const folder of [place, ...subfolders(place)]) {
      const path = join(folder, "faketime");
      if (namesIn(path).includes(library)) return join(path, library);
    }
  }
  return null;
}

export const canMoveClocks = (): boolean => findFaketime() !== null;

/** The wall clock of one process. Its monotonic clock is not affected, as when an operator sets the time. */
export class NodeClock {
  readonly #library: string;
  readonly #file: string;

  constructor(libraryPath: string, file: string) {
    this.#library = libraryPath;
    this.#file = file;
    this.move(0);
  }

  /** The environment of the process. libfaketime reads the file about once a second. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: "1",
      DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** Moves the clock by this much from now on; 0 restores it. */
  move(byMs: number): void {
    writeFileSync(this.#file, `${byMs < 0 ? "-" : "+"}${Math.abs(byMs) / 1_000}\n`);
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const subfolders = (folder: string): string[] => namesIn(folder).map((name) => join(folder, name));
