// Runs the property tests with new seeds: `npm run properties -- --seeds 20 [--from 1]`. Stops with exit code 1 at the first seed that fails;
// CARILLON_PROPERTY_SEED=<seed> npm run unit repeats it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { seeds: { type: "string", default: "10" }, from: { type: "string" } } });
const from = values.from === undefined ? Math.floor(Math.random() * 2 ** 30) : Number(values.from);
/** The folders with property tests. */
const testFolders = ["packages/core", "packages/engine/test/unit/scheduler", "packages/engine/test/unit/simulation"];
for (let seed = from; seed < from + Number(values.seeds); seed++) {
  const env = { ...process.env, CARILLON_PROPERTY_SEED: String(seed) };
  const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit", ...testFolders];
  const run = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
  console.log(`seed ${seed}: ${run.status === 0 ? "ok" : "FAILED"}`);
  if (run.status === 0) continue;
  console.log(run.stdout);
  process.exit(1);
}
