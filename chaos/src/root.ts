import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top of the checkout, from the sources and from the build alike. */
export const root = topFrom(dirname(fileURLToPath(import.meta.url)));

function topFrom(folder: string): string {
  if (existsSync(join(folder, "package-lock.json"))) return folder;
  if (dirname(folder) === folder) throw new Error("chaos runs in a checkout only");
  return topFrom(dirname(folder));
}
