// Builds the stale packages. `tsc -b` checks the project references itself, so a build without changes is cheap.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}node_modules/@typescript/native/bin/tsc`;
const done = spawnSync(process.execPath, [tsc, "-b", ...process.argv.slice(2)], { cwd: root, stdio: ["ignore", 2, 2] });
process.exitCode = done.status ?? 1;
