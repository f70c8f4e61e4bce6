#!/usr/bin/env node
// Checked in, so that npm can link it before anything is built. In a checkout it builds what is stale first.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const build = fileURLToPath(new URL("../../../scripts/build.mjs", import.meta.url));
const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const stamp = `${dist}.built`;

/** Whether this folder or anything below it changed after the time; a deleted file shows in its folder's own time. */
function changedSince(time, folder) {
  if (statSync(folder).mtimeMs > time) return true;
  return readdirSync(folder, { withFileTypes: true }).some((entry) =>
    entry.isDirectory()
      ? changedSince(time, `${folder}/${entry.name}`)
      : statSync(`${folder}/${entry.name}`).mtimeMs > time,
  );
}

function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false });
  if (!built) return true;
  return readdirSync(packages, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(`${packages}${entry.name}/tsconfig.json`))
    .some(
      ({ name }) => !existsSync(`${packages}${name}/dist`) || changedSince(built.mtimeMs, `${packages}${name}/src`),
    );
}

const isCheckout = existsSync(build) && existsSync(new URL("../src", import.meta.url));
if (isCheckout && process.env.CARILLON_SKIP_BUILD !== "1" && isStale()) {
  process.stderr.write("carillon: building …\n");
  // Made before the build, so that a file that is changed meanwhile counts as changed.
  const mark = `${stamp}-${process.pid}`;
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, "");
  const built = spawnSync(process.execPath, [build], { stdio: ["ignore", 2, 2] });
  if (built.status !== 0) {
    rmSync(mark, { force: true });
    process.stderr.write("carillon: the build failed; after a fresh clone run `npm ci` first\n");
    process.exit(1);
  }
  renameSync(mark, stamp);
}
const { main } = await import("@carillon/cli").catch((error) => {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (error.code !== "ERR_MODULE_NOT_FOUND" || missing === undefined) throw error;
  process.stderr.write(
    `carillon: The command line needs the package ${missing}, which npm left out, as --omit=optional asks for. Install everything with: npm install carillon --include=optional\n`,
  );
  process.exit(1);
});
await main(process.argv.slice(2));
