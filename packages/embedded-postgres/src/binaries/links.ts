import { mkdir, readlink, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../errors.js";
import type { LibraryLink } from "./native-folder.js";

/** Makes the links in `dir`, to files in `lib`; right ones stay, wrong ones are replaced in one step. */
export async function makeLinks(dir: string, lib: string, links: readonly LibraryLink[]): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o755 });
  for (const { name, target } of links) {
    const path = join(dir, name);
    const wanted = dir === lib ? target : join(lib, target);
    if ((await readlink(path).catch(() => undefined)) === wanted) continue;
    const draft = `${path}.${process.pid}.new`;
    await symlink(wanted, draft);
    await rename(draft, path);
  }
}

/** Tries to make the links where the libraries are; false when that folder cannot be written. */
export async function makeLinksInPlace(lib: string, links: readonly LibraryLink[]): Promise<boolean> {
  try {
    await makeLinks(lib, lib, links);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") return false;
    throw error;
  }
}
