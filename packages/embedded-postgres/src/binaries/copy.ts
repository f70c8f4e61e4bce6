import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { makeShared } from "../data-dir/home.js";
import { systemCode } from "../errors.js";
import { makeLinks, readLibraryLinks } from "./native-folder.js";

/**
 * Copies the binaries once to a folder that every user can read and returns its path. The folder is named after its content,
 * so that two versions never collide, and gets its name only when it is complete. A copy that lost files since (a power cut
 * before the disk had them) does not match its name any more and is made again.
 */
export async function ensureCopy(native: string, place: string): Promise<string> {
  const print = await fingerprint(native);
  const target = join(place, `${basename(dirname(native))}-${print}`);
  if ((await fingerprint(target)) === print) return target;
  await makeShared(place);
  const draft = `${target}.${process.pid}.new`;
  await rm(draft, { recursive: true, force: true });
  await copyReadable(native, draft);
  await makeLinks(join(draft, "lib"), join(draft, "lib"), await readLibraryLinks(native));
  if (await moveIfFree(draft, target)) return target;
  // Another starter was faster and may already run from its copy; only an incomplete copy is moved away.
  const stale = `${target}.${process.pid}.old`;
  if ((await fingerprint(target)) !== print) {
    await moveIfFree(target, stale);
    await moveIfFree(draft, target);
  }
  for (const rest of [draft, stale]) await rm(rest, { recursive: true, force: true });
  return target;
}

async function moveIfFree(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

async function copyReadable(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyReadable(source, copy);
    if (!entry.isFile()) continue;
    await copyFile(source, copy);
    await chmod(copy, 0o755);
  }
}

/** A digest of the name and size of every file; of an empty list if the folder is missing. */
async function fingerprint(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const lines = await Promise.all(files.map(async (path) => `${relative(folder, path)} ${(await stat(path)).size}`));
  return createHash("sha256").update(lines.sort().join("\n")).digest("hex").slice(0, 12);
}
