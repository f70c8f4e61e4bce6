import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { EmbeddedPostgresError, systemCode } from "../errors.js";
import { type Account, firstBarrier } from "./account.js";
import { type DataDir, makeFolders, readLastServer } from "./data-dir.js";

/** The folder of everything that PostgreSQL's user must reach: the cluster, its libraries, a cluster being made. */
export interface Home {
  readonly path: string;
  readonly cluster: string;
  readonly clusterExists: boolean;
}

/**
 * Usually the data directory itself. When root's data directory lies behind a directory that PostgreSQL's user may
 * not pass (as /root, mode 0700), a directory below `sharedDir`; `postgres` in the data directory is then a symbolic
 * link to the cluster. The link is made before the cluster, so that a kill in between leaves no untracked cluster.
 */
export async function findHome(dataDir: DataDir, account: Account | undefined, sharedDir: string): Promise<Home> {
  const entry = join(dataDir.path, "postgres");
  const found = await lstat(entry).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found?.isSymbolicLink()) return linkedHome(dataDir, resolve(dataDir.path, await readlink(entry)), account);
  const here = { path: dataDir.path, cluster: entry, clusterExists: found !== undefined };
  if (!account) return here;
  const barrier = await firstBarrier(dataDir.path, account);
  if (barrier !== undefined && !found) return makeSharedHome(dataDir, entry, account, sharedDir);
  if (barrier !== undefined) throw unreachable(entry, barrier, account);
  if (found) await giveCluster(entry, account);
  return here;
}

async function linkedHome(dataDir: DataDir, cluster: string, account: Account | undefined): Promise<Home> {
  const path = dirname(cluster);
  const clusterExists = await isThere(cluster);
  if (!clusterExists && (await readLastServer(dataDir))) {
    throw new EmbeddedPostgresError(
      "embedded_data_dir_incomplete",
      `The database of ${dataDir.path} was in ${cluster}, which does not exist any more. Restore it there, or remove ${dataDir.path} ` +
        "to begin with an empty database.",
    );
  }
  await makeFolders(path, 0o711);
  if (!account) return { path, cluster, clusterExists };
  const barrier = await firstBarrier(path, account);
  if (barrier !== undefined) throw unreachable(cluster, barrier, account);
  if (clusterExists) await giveCluster(cluster, account);
  return { path, cluster, clusterExists };
}

async function makeSharedHome(dataDir: DataDir, entry: string, account: Account, sharedDir: string): Promise<Home> {
  const path = join(sharedDir, "clusters", randomBytes(6).toString("hex"));
  await makeShared(join(sharedDir, "clusters"));
  await mkdir(path, { mode: 0o710 });
  await chown(path, 0, account.gid);
  await chmod(path, 0o710);
  const barrier = await firstBarrier(path, account);
  if (barrier !== undefined) throw unreachable(path, barrier, account);
  await writeFile(join(path, "data-dir"), `${dataDir.path}\n`);
  const cluster = join(path, "postgres");
  const draft = `${entry}.${process.pid}.new`;
  await symlink(cluster, draft);
  await dataDir.own(draft);
  await rename(draft, entry);
  return { path, cluster, clusterExists: false };
}

/** A directory for all users to pass through and only root to write, with any umask. */
export async function makeShared(path: string): Promise<void> {
  const first = await makeFolders(path, 0o755);
  if (first === undefined) return;
  for (let dir = path; dir.length >= first.length; dir = dirname(dir)) await chmod(dir, 0o755);
}

/** A cluster that root copied back from a backup belongs to root; PostgreSQL requires its own user as the owner. */
async function giveCluster(cluster: string, account: Account): Promise<void> {
  if ((await stat(cluster)).uid !== 0) return;
  for (const entry of await readdir(cluster, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), account.uid, account.gid);
  }
  await chown(cluster, account.uid, account.gid);
  await chmod(cluster, 0o700);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => {
      if (systemCode(error) === "ENOENT") return false;
      throw error;
    },
  );
}

function unreachable(cluster: string, barrier: string, account: Account): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    "embedded_data_dir_unreachable",
    `PostgreSQL runs as user ${account.name}, who may not pass through ${barrier} to the database in ${cluster}. ` +
      `Let others pass (chmod o+x ${barrier}), or move the data directory to a place that all users can reach.`,
  );
}
