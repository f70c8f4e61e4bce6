import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** One by one, from the nearest folder that exists: Node's recursive mkdir never returns if none can be made, as in /proc. */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
