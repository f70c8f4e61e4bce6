import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of the checkout; works from the sources and from the build. */
export const root = topFrom(dirname(fileURLToPath(import.meta.url)));

function topFrom(folder: string): string {
  if (existsSync(join(folder, "package-lock.json"))) return folder;
  if (dirname(folder) === folder) throw new Error("The chaos harness runs in a checkout only.");
  return topFrom(dirname(folder));
}
