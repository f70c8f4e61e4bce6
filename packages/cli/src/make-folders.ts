import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Step by step, from the nearest folder that is there: Node's own way never ends where none can be made, as in /proc. */
export function makeFolders(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolders(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Somebody else may have made it meanwhile.
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
