// Creates an empty project with a package of ours installed from its tarball, as a user has them.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @typedef {import("./tarballs.mjs").Packed} Packed */

/**
 * Takes the package's dependencies from the registry that npm is set to.
 * @param {string} dir
 * @param {Packed} packed
 */
export async function installProject(dir, packed) {
  createProject(dir);
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", packed.path];
  const { code, stderr } = await runProgram("npm", args, { cwd: dir });
  if (code !== 0) throw new Error(`npm install of the tarball failed:\n${stderr}`);
  // Overrides of this checkout do not reach users: the versions that they get must support their Node.
  if (stderr.includes("EBADENGINE")) throw new Error(`npm warns of packages that do not support this Node:\n${stderr}`);
}

/**
 * Takes the package's dependencies from this checkout and fetches nothing.
 * @param {string} dir
 * @param {Packed} packed
 * @param {{ optional?: boolean }} [options] optional: false leaves optional dependencies out, as npm install --omit=optional does
 */
export async function linkProject(dir, packed, { optional = true } = {}) {
  createProject(dir, packed);
  await linkInstalled(dir, packed, { optional });
}

/**
 * Does what `npm install` does in a project that depends on the package, without fetching anything.
 * @param {string} dir
 * @param {Packed} packed
 * @param {{ optional?: boolean }} [options]
 */
export async function linkInstalled(dir, packed, { optional = true } = {}) {
  const modules = join(dir, "node_modules");
  const own = join(modules, packed.name);
  mkdirSync(own, { recursive: true });
  const { code, stderr } = await runProgram("tar", ["-xzf", packed.path, "-C", own, "--strip-components", "1"]);
  if (code !== 0) throw new Error(`${packed.path}: ${stderr}`);
  const { bin, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
  // Every TypeScript project has the types of Node.
  const wanted = Object.keys({ ...dependencies, ...(optional && optionalDependencies), "@types/node": "" });
  // An optional dependency for another platform is not installed.
  for (const name of wanted.filter((one) => existsSync(`${root}node_modules/${one}`))) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(`${root}node_modules/${name}`, join(modules, name));
  }
  if (bin === undefined) return;
  mkdirSync(join(modules, ".bin"), { recursive: true });
  symlinkSync(`../${packed.name}/${bin.carillon}`, join(modules, ".bin/carillon"));
}

function createProject(dir, packed) {
  const dependencies = packed && { [packed.name]: `file:${relative(dir, packed.path)}` };
  const manifest = { name: "empty", private: true, type: "module", dependencies };
  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
}

/**
 * @param {readonly Packed[]} packed
 * @param {string} name
 */
export function packedAs(packed, name) {
  const found = packed.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${name} is not a published package`);
  return found;
}
