import { randomBytes } from "node:crypto";
import {
  chmod,
  lchown,
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  realpath,
  rename,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EmbeddedPostgresError, notWritable, systemCode } from "../errors.js";
import type { Account } from "./account.js";

/** The last server that was ready. Its presence shows that the data directory was in use before. */
export interface LastServer {
  readonly port: number;
  readonly version: string;
}

/** The prepared data directory. */
export interface DataDir {
  /** Absolute and without symbolic links. */
  readonly path: string;
  /** Gives files that root made here to the owner of the directory, since an ordinary user may start the next server. */
  own(...paths: readonly string[]): Promise<void>;
}

/**
 * Makes the data directory private. One with existing files keeps its mode, because it may have been named by mistake; private
 * files have modes of their own. For root the group of PostgreSQL's user may pass through.
 */
export async function openDataDir(dataDir: string, account: Account | undefined): Promise<DataDir> {
  const requested = resolve(dataDir);
  await makeFolders(requested, 0o700).catch((error: unknown) => {
    // A file system without new folders, such as /proc, reports the new one as missing.
    throw systemCode(error) === "ENOENT" ? notWritable(requested, "it cannot be made there", error) : error;
  });
  const path = await realpath(requested);
  const before = await stat(path);
  const mine = before.uid === process.getuid?.();
  if (mine && (await readdir(path)).length === 0) {
    if (account) await lchown(path, before.uid, account.gid);
    await chmod(path, account ? 0o710 : 0o700);
    await keepFromGit(path);
  }
  const owner = await stat(path);
  return {
    path,
    async own(...paths) {
      if (!account) return;
      for (const made of paths) await lchown(made, owner.uid, owner.gid);
    },
  };
}

/** Keeps a database and its password out of repositories. Never called for a directory with other files. */
async function keepFromGit(path: string): Promise<void> {
  await writeFile(join(path, ".gitignore"), "*\n", { flag: "wx" }).catch(() => {
    // The file is optional.
  });
}

/** Writes a file atomically: after a crash it is either the old or the new one. */
async function writeWhole(dataDir: DataDir, name: string, text: string): Promise<void> {
  const path = join(dataDir.path, name);
  const draft = `${path}.${process.pid}.new`;
  const file = await open(draft, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await dataDir.own(draft);
  await rename(draft, path);
}

export async function readLastServer(dataDir: DataDir): Promise<LastServer | undefined> {
  const text = await readIfThere(join(dataDir.path, "server.json"));
  if (text === undefined) return undefined;
  try {
    const { port, version } = JSON.parse(text) as Partial<LastServer>;
    return { port: Number(port), version: String(version) };
  } catch {
    return undefined;
  }
}

export async function rememberServer(dataDir: DataDir, server: LastServer): Promise<void> {
  await writeWhole(dataDir, "server.json", `${JSON.stringify(server)}\n`);
}

/** The password, made before the database, so that no database exists without a known password. */
export async function ensurePassword(dataDir: DataDir, clusterExists: boolean): Promise<string> {
  const known = (await readIfThere(join(dataDir.path, "password")))?.trim();
  if (known) return known;
  if (clusterExists) {
    throw new EmbeddedPostgresError(
      "embedded_data_dir_incomplete",
      `The file "password" of the database in ${dataDir.path} is missing. Put it back from a backup, or remove ` +
        "the directory to begin with an empty database.",
    );
  }
  const password = randomBytes(24).toString("base64url");
  await writeWhole(dataDir, "password", `${password}\n`);
  return password;
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Whether a start on this data directory would find a database, or would refuse to replace a missing one. Read-only.
 */
export async function hasEmbeddedDatabase(dataDir: string): Promise<boolean> {
  const path = resolve(dataDir);
  if (await exists(stat(join(path, "postgres")))) return true;
  return exists(lstat(join(path, "server.json")));
}

/** A path that cannot be read counts as existing: the start reports the reason. */
function exists(found: Promise<unknown>): Promise<boolean> {
  return found.then(
    () => true,
    (error: unknown) => !["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? ""),
  );
}

/**
 * Makes missing folders and returns the first new one. Works step by step from the nearest existing folder, because
 * `mkdir({ recursive: true })` never ends if no folder can be made, as in /proc.
 */
export async function makeFolders(path: string, mode: number): Promise<string | undefined> {
  if (await isFolder(path)) return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : await makeFolders(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (await isFolder(path)) return first;
    throw error;
  }
  return first ?? path;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}
