import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedPostgresError, systemCode } from "../errors.js";
import { readProcess } from "../process/process-table.js";
import type { DataDir } from "./data-dir.js";

/** The exclusive right to a data directory. It ends with `release` or with the process, whichever comes first. */
export interface Ownership {
  release(): Promise<void>;
}

const TRIES = 100;

/**
 * The owner is the single file in the directory `owner`; its name has the pid, the start of the process and a random part. A
 * starter prepares its own directory with its file and renames it to `owner`, which the system allows only while `owner` is
 * missing or empty. The file of a dead owner is removed by its unique name, so no racing starter can remove the file of a live
 * owner, and exactly one rename succeeds.
 */
export async function takeOwnership(dataDir: DataDir): Promise<Ownership> {
  const self = await readProcess(process.pid);
  const name = `${process.pid}.${self?.start ?? "0"}.${randomBytes(6).toString("hex")}`;
  const owner = join(dataDir.path, "owner");
  const staged = join(dataDir.path, `owner.${name}`);
  await mkdir(staged, { mode: 0o700 });
  try {
    await writeFile(join(staged, name), "", { mode: 0o600 });
    await dataDir.own(staged, join(staged, name));
    await moveIn(staged, owner, dataDir.path);
  } catch (error) {
    await rm(staged, { recursive: true, force: true });
    throw error;
  }
  await removeDeadStages(dataDir.path);
  return { release: () => removeFile(join(owner, name)) };
}

async function moveIn(staged: string, owner: string, dataDir: string): Promise<void> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    for (const holder of await listDir(owner)) {
      const pid = await livePid(holder);
      if (pid !== undefined) throw inUse(dataDir, `process ${pid}`);
      await removeFile(join(owner, holder));
    }
    try {
      await rename(staged, owner);
      return;
    } catch (error) {
      // Another starter was faster. Windows also reports EPERM if the target is an empty directory.
      const code = systemCode(error);
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && !(process.platform === "win32" && code === "EPERM")) throw error;
      if (process.platform === "win32") await rm(owner, { recursive: false }).catch(() => undefined);
    }
  }
  throw inUse(dataDir, "several processes that are starting");
}

async function removeDeadStages(dataDir: string): Promise<void> {
  for (const entry of await listDir(dataDir)) {
    if (!entry.startsWith("owner.") || (await livePid(entry.slice("owner.".length))) !== undefined) continue;
    await rm(join(dataDir, entry), { recursive: true, force: true });
  }
}

/** The pid in an owner's name, if exactly that process is alive. */
async function livePid(name: string): Promise<number | undefined> {
  const [pid, start] = name.split(".");
  const found = await readProcess(Number(pid));
  return found && found.start === start ? found.pid : undefined;
}

async function listDir(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (systemCode(error) !== "ENOENT") throw error;
  });
}

function inUse(dataDir: string, who: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "embedded_data_dir_in_use",
    `Data directory ${dataDir} is in use by ${who}. Stop it first, or name another directory with --data-dir; ` +
      "several nodes on one database need CARILLON_DATABASE_URL.",
  );
}
