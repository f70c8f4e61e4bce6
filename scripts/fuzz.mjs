// Sends random requests to every operation of the API over a real database: `npm run fuzz -- --requests 20000 --seed 7`.
// Exit code 1 if an answer has status 500 or contradicts the OpenAPI document, or if a refused request changes a row.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { requests: { type: "string", default: "20000" }, seed: { type: "string" } } });
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 30));
console.log(`${values.requests} requests, seed ${seed}`);
const env = { ...process.env, CARILLON_FUZZ_REQUESTS: values.requests, CARILLON_FUZZ_SEED: seed };
const args = ["node_modules/vitest/vitest.mjs", "run", "--project", "store", "packages/server/test/store/fuzz"];
process.exit(spawnSync(process.execPath, args, { cwd: root, env, stdio: "inherit" }).status ?? 1);
