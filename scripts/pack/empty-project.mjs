// Creates an empty project with our packages installed from their tarballs, as a user has them.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runProgram } from "./run-program.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** @typedef {import("./tarballs.mjs").Packed} Packed */

/**
 * Takes the packages' dependencies from the registry that npm is set to.
 * @param {string} dir
 * @param {readonly Packed[]} packed
 * @param {string} name of the package that the project depends on
 */
export async function installProject(dir, packed, name) {
  createProject(dir);
  const paths = [...neededBy(name, packed).ours.values()].map(({ path }) => path);
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...paths];
  const { code, stderr } = await runProgram("npm", args, { cwd: dir });
  if (code !== 0) throw new Error(`npm install of the tarballs failed:\n${stderr}`);
  // Overrides of this checkout do not reach users: the versions that they get must support their Node.
  if (stderr.includes("EBADENGINE")) throw new Error(`npm warns of packages that do not support this Node:\n${stderr}`);
}

/**
 * Takes the packages' dependencies from this checkout and fetches nothing.
 * @param {string} dir
 * @param {readonly Packed[]} packed
 * @param {string} name
 * @param {{ optional?: boolean }} [options] optional: false leaves optional dependencies out, as npm install --omit=optional does
 */
export async function linkProject(dir, packed, name, { optional = true } = {}) {
  createProject(dir);
  const modules = join(dir, "node_modules");
  const { ours, others } = neededBy(name, packed, optional);
  for (const [one, { path }] of ours) {
    mkdirSync(join(modules, one), { recursive: true });
    const { code, stderr } = await runProgram("tar", [
      "-xzf",
      path,
      "-C",
      join(modules, one),
      "--strip-components",
      "1",
    ]);
    if (code !== 0) throw new Error(`${path}: ${stderr}`);
  }
  // Every TypeScript project has the types of Node.
  for (const other of new Set([...others, "@types/node"])) {
    mkdirSync(dirname(join(modules, other)), { recursive: true });
    symlinkSync(`${root}node_modules/${other}`, join(modules, other));
  }
  mkdirSync(join(modules, ".bin"), { recursive: true });
  symlinkSync("../carillon/bin/carillon.js", join(modules, ".bin/carillon"));
}

function createProject(dir) {
  writeFileSync(join(dir, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
}

/** A package and its dependencies: tarballs of ours, names of others. */
function neededBy(name, packed, optional = true) {
  const ours = new Map();
  const others = new Set();
  const add = (wanted) => {
    const one = packed.find((other) => other.name === wanted);
    if (one === undefined) others.add(wanted);
    if (one === undefined || ours.has(wanted)) return;
    ours.set(wanted, one);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(`${root}${one.dir}/package.json`, "utf8"),
    );
    Object.keys({ ...dependencies, ...(optional && optionalDependencies) }).forEach(add);
  };
  add(name);
  return { ours, others };
}
