import type { Stats } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Account } from "./account.js";

const READ = 4;
const EXECUTE = 1;

/** What the mode bits grant; access lists are not looked at, so that the answer errs on the side of no. */
export function permits(file: Pick<Stats, "mode" | "uid" | "gid">, { uid, gid }: Account, wanted: number): boolean {
  const shift = file.uid === uid ? 6 : file.gid === gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}

/** The first directory on the way to `path`, itself included, that the account may not pass through. */
export async function firstBarrier(path: string, account: Account): Promise<string | undefined> {
  const real = await realpath(path);
  for (let dir = real; ; dir = dirname(dir)) {
    if (!permits(await stat(dir), account, EXECUTE)) return dir;
    if (dir === dirname(dir)) return undefined;
  }
}

/** Whether the account can read everything below a folder and run what is in its `bin`. */
export async function canRun(native: string, account: Account): Promise<boolean> {
  if (await firstBarrier(native, account)) return false;
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const allowed = entries.map(async (entry) => {
    const wanted = entry.isDirectory() || entry.parentPath === join(native, "bin") ? READ | EXECUTE : READ;
    return permits(await stat(join(entry.parentPath, entry.name)), account, wanted);
  });
  return (await Promise.all(allowed)).every(Boolean);
}
