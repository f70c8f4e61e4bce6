// Sends requests from the OpenAPI document to every operation over a real database: `npm run fuzz -- --requests 20000 --seed 7`. Half of them
// are valid by the document, and must be accepted or refused for the state of the server; the others have one fault, and must be refused with an
// error at its place. Exit code 1 also if an answer does not fit its schema or has status 500, or if a refused request changes a row.
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
