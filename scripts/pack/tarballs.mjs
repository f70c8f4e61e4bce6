// Packs the published packages with `npm pack`, from a build without stale files.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @typedef {object} Packed
 * @property {string} name
 * @property {string} dir of its sources
 * @property {string} path of the tarball
 * @property {number} size of the tarball, in bytes
 * @property {number} unpackedSize
 * @property {string[]} files
 */

/** The folders of the packages that are published. */
export function publishedFolders() {
  return readdirSync(`${root}packages`).filter((dir) => {
    const manifest = `${root}packages/${dir}/package.json`;
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).private !== true;
  });
}

/**
 * Builds the stale packages and packs every published one into a folder.
 * @param {string} out
 * @returns {Packed[]}
 */
export function packAll(out) {
  const built = spawnSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: ["ignore", 2, 2] });
  if (built.status !== 0) throw new Error("the build failed");
  const dirs = publishedFolders();
  dirs.forEach(removeStaleOutputs);
  mkdirSync(out, { recursive: true });
  const workspaces = dirs.flatMap((dir) => ["-w", `packages/${dir}`]);
  const args = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", out, ...workspaces];
  const done = spawnSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 });
  if (done.status !== 0) throw new Error(`npm pack failed: ${done.stderr}`);
  return JSON.parse(done.stdout).map(({ name, filename, size, unpackedSize, files }) => ({
    name,
    dir: `packages/${name.replace(/^@carillon\//, "")}`,
    path: join(out, filename),
    size,
    unpackedSize,
    files: files.map(({ path }) => path),
  }));
}

/** The compiler does not delete the outputs of deleted sources. */
function removeStaleOutputs(dir) {
  const dist = `${root}packages/${dir}/dist`;
  for (const file of readdirSync(dist, { recursive: true })) {
    const [, stem] = /^(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(file) ?? [];
    if (stem !== undefined && !existsSync(`${root}packages/${dir}/src/${stem}.ts`)) rmSync(join(dist, file));
  }
}
