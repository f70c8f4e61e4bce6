import { spawnSync } from "node:child_process";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../../../../scripts/servers/libfaketime.sh", import.meta.url));
const found = spawnSync(script, ["path"], { encoding: "utf8" });

/** The library that moves a process's clock; null where it is not installed. */
export const fakeTimeLibrary: string | null = found.status === 0 ? found.stdout.trim() : null;

/** The wall clock of one process, which can be set while it runs. Its monotonic clock goes on as it is, as on a real machine. */
export class FakeClock {
  readonly #file: string;

  constructor(folder: string, aheadSeconds: number) {
    this.#file = join(folder, "clock");
    this.set(aheadSeconds);
  }

  /** For the environment of that process only. */
  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: fakeTimeLibrary ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
  }

  /** How far it is ahead of the machine's clock from now on. */
  set(aheadSeconds: number): void {
    writeFileSync(`${this.#file}.new`, `${aheadSeconds < 0 ? "" : "+"}${aheadSeconds}`);
    renameSync(`${this.#file}.new`, this.#file);
  }
}
