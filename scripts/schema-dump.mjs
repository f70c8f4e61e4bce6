// Writes packages/store/schema.sql from a freshly migrated database; with --check only compares. The script runs the test that checks
// the file, because that test has a server for the migrations.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const unknown = args.filter((arg) => arg !== "--check");
if (unknown.length > 0) {
  console.error(`unknown argument ${unknown[0]}\nusage: node scripts/schema-dump.mjs [--check]`);
  process.exit(64);
}
const vitest = `${root}node_modules/vitest/vitest.mjs`;
const test = "packages/store/test/store/migrations/schema-dump.test.ts";
const done = spawnSync(process.execPath, [vitest, "run", "--project", "store", test], {
  cwd: root,
  stdio: "inherit",
  env: { ...process.env, CARILLON_WRITE_SCHEMA: args.includes("--check") ? "0" : "1" },
});
process.exitCode = done.status ?? 1;
