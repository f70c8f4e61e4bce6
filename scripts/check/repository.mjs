// The files of the checkout that the checks read: no dependencies, no build outputs, no data.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const ignoredFolders = new Set(["node_modules", "dist", ".git", ".tmp", ".carillon", "peers"]);

/**
 * Paths from the root, with slashes, in order.
 * @param {string} root
 * @param {RegExp} pattern of the file's name
 * @returns {string[]}
 */
export function filesIn(root, pattern, folder = root) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return ignoredFolders.has(entry.name) ? [] : filesIn(root, pattern, path);
      return pattern.test(entry.name) ? [relative(root, path).split(sep).join("/")] : [];
    })
    .sort();
}

/**
 * @param {string} root
 * @param {readonly string[]} paths
 * @returns {Map<string, string>}
 */
export function textsOf(root, paths) {
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}
