// Packs the published packages with `npm pack`, each with the workspace packages that it needs, from a build without stale files.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stage, workspacePackages } from "./stage.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * @typedef {object} Packed
 * @property {string} name
 * @property {string} path of the tarball
 * @property {number} size of the tarball, in bytes
 * @property {number} unpackedSize
 * @property {string[]} files
 */

/**
 * Builds the stale packages and packs every published one into a folder.
 * @param {string} out
 * @returns {Packed[]}
 */
export function packAll(out) {
  const built = spawnSync(process.execPath, [`${root}scripts/build.mjs`], { stdio: ["ignore", 2, 2] });
  if (built.status !== 0) throw new Error("the build failed");
  const packages = [...workspacePackages().values()];
  for (const { dir } of packages) removeStaleOutputs(dir);
  mkdirSync(out, { recursive: true });
  return packages.filter(({ manifest }) => manifest.private !== true).map(({ manifest }) => pack(manifest.name, out));
}

function pack(name, out) {
  const folder = mkdtempSync(join(tmpdir(), "carillon-pack-"));
  try {
    stage(name, folder);
    const args = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", out];
    const done = spawnSync("npm", args, { cwd: folder, encoding: "utf8", maxBuffer: 64 << 20 });
    if (done.status !== 0) throw new Error(`npm pack failed: ${done.stderr}`);
    const [{ filename, size, unpackedSize, files }] = JSON.parse(done.stdout);
    return { name, path: join(out, filename), size, unpackedSize, files: files.map(({ path }) => path) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The compiler does not delete the outputs of deleted sources. */
function removeStaleOutputs(dir) {
  const dist = `${root}packages/${dir}/dist`;
  for (const file of readdirSync(dist, { recursive: true })) {
    const [, stem] = /^(.+?)(?:\.d\.ts|\.js)(?:\.map)?$/.exec(file) ?? [];
    if (stem !== undefined && !existsSync(`${root}packages/${dir}/src/${stem}.ts`)) rmSync(join(dist, file));
  }
}
