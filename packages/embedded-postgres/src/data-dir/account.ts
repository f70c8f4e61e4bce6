import type { Stats } from "node:fs";
import { readFile, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EmbeddedPostgresError } from "../errors.js";

/** The user of the operating system that runs PostgreSQL. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * PostgreSQL refuses to run as root. For root this is the user of the server: the owner of the database or of the data
 * directory, else `postgres`, else `nobody`. Undefined for an ordinary user, who needs no other account.
 * The user needs an entry in the password file, because initdb reads its own entry.
 */
export async function chooseAccount(dataDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = parsePasswd(await readFile("/etc/passwd", "utf8"));
  for (const path of [`${dataDir}/postgres`, dataDir]) {
    const uid = (await stat(path).catch(() => null))?.uid ?? 0;
    const owner = accounts.find((account) => account.uid === uid && uid !== 0);
    if (owner) return owner;
  }
  for (const name of ["postgres", "nobody"]) {
    const account = accounts.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (account) return account;
  }
  throw new EmbeddedPostgresError(
    "embedded_user_missing",
    `PostgreSQL does not run as root, and this system has neither of the users "postgres", "nobody". ` +
      "Start Carillon as an ordinary user, or set CARILLON_DATABASE_URL to a PostgreSQL of your own.",
  );
}

export function parsePasswd(text: string): readonly Account[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (!name || name.startsWith("#") || !/^-?\d+$/.test(uid ?? "") || !/^-?\d+$/.test(gid ?? "")) return [];
    // macOS writes negative numbers, which the kernel reads as unsigned.
    return [{ name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }];
  });
}

const READ = 4;
const EXECUTE = 1;

/** Whether the mode bits grant access. Access lists are ignored, so the result may be too strict. */
export function permits(file: Pick<Stats, "mode" | "uid" | "gid">, { uid, gid }: Account, wanted: number): boolean {
  const shift = file.uid === uid ? 6 : file.gid === gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}

/** The first directory on the path, itself included, that the account may not pass through. */
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
