import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Answers the first one that was made. Step by step, from the nearest folder that is there: Node's own way never ends where none can
 * be made, as in /proc.
 */
export async function makeFolders(path: string, mode: number): Promise<string | undefined> {
  if (await isFolder(path)) return undefined;
  const parent = dirname(path);
  const first = parent === path ? undefined : await makeFolders(parent, mode);
  try {
    await mkdir(path, { mode });
  } catch (error) {
    // Somebody else may have made it meanwhile.
    if (await isFolder(path)) return first;
    throw error;
  }
  return first ?? path;
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
