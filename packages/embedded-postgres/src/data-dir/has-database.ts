import { lstat, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { systemCode } from "../errors.js";

/**
 * Whether a start on this data directory would find a database, or would refuse to make one in the place of one that is gone. Makes
 * nothing and changes nothing.
 */
export async function hasEmbeddedDatabase(dataDir: string): Promise<boolean> {
  const path = resolve(dataDir);
  if (await isThere(stat(join(path, "postgres")))) return true;
  return isThere(lstat(join(path, "server.json")));
}

/** What may not be looked at is there: who starts it hears why. */
function isThere(look: Promise<unknown>): Promise<boolean> {
  return look.then(
    () => true,
    (error: unknown) => !["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? ""),
  );
}
