// Runs a checking tool from tools/. Installs that folder first if its lockfile changed since the last installation.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = `${root}tools`;

export function ensureTools() {
  const lock = readFileSync(`${tools}/package-lock.json`, "utf8");
  const mark = `${tools}/node_modules/.installed-lock`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  console.log("installing the checking tools (tools/package-lock.json) …");
  const done = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: tools,
    stdio: "inherit",
  });
  if (done.status !== 0) throw new Error("npm ci in tools/ failed.");
  writeFileSync(mark, lock);
}

export function runTool(name, args) {
  ensureTools();
  const bin = `${tools}/node_modules/.bin`;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, OXLINT_TSGOLINT_PATH: `${bin}/tsgolint` };
  return spawnSync(`${bin}/${name}`, args, { cwd: root, stdio: "inherit", env }).status ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2);
  process.exitCode = runTool(name, args);
}
