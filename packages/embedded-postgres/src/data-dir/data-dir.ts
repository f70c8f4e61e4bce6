import { randomBytes } from "node:crypto";
import { chmod, lchown, open, readdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { EmbeddedPostgresError, notWritable, systemCode } from "../errors.js";
import type { Account } from "./account.js";
import { makeFolders } from "./make-folders.js";

/** What is remembered of the last server that was ready. Its presence says that the data directory was in use before. */
export interface LastServer {
  readonly port: number;
  readonly version: string;
}

/** The directory the user named, after it was made usable. */
export interface DataDir {
  /** Absolute and without symbolic links. */
  readonly path: string;
  /** Gives files that root made here to the directory's owner, who may be an ordinary user who starts next time. */
  own(...paths: readonly string[]): Promise<void>;
}

/**
 * Makes the data directory private. One that held files before keeps its mode, because it may be a directory that was
 * named by mistake; what is private in it protects itself. For root the group of PostgreSQL's user may pass through.
 */
export async function openDataDir(dataDir: string, account: Account | undefined): Promise<DataDir> {
  const requested = resolve(dataDir);
  await makeFolders(requested, 0o700).catch((error: unknown) => {
    // A file system that takes no folders, as /proc, says that the new one is missing.
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

/** A database and its password are not for a repository. Never in a directory that holds something else. */
async function keepFromGit(path: string): Promise<void> {
  await writeFile(join(path, ".gitignore"), "*\n", { flag: "wx" }).catch(() => {
    // Nothing depends on it.
  });
}

/** Writes a file so that it is either the old or the new one, whenever the machine stops. */
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

/** The password, made before the database, so that there is never a database whose password nobody knows. */
export async function ensurePassword(dataDir: DataDir, clusterExists: boolean): Promise<string> {
  const known = (await readIfThere(join(dataDir.path, "password")))?.trim();
  if (known) return known;
  if (clusterExists) {
    throw new EmbeddedPostgresError(
      "embedded_data_dir_incomplete",
      `The database in ${dataDir.path} has no file "password" beside it any more. Put it back from a backup, or remove ` +
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
