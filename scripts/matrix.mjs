// Runs the unit and store tiers on other versions: unit on each Node, store on each pair of Node and PostgreSQL. The versions are the npm
// packages of matrix/ (fetched on first use, about 900 MB). Not part of npm test.
//   node scripts/matrix.mjs                            every cell
//   node scripts/matrix.mjs --quick                    every version once: store on every PostgreSQL with one Node
//   node scripts/matrix.mjs --node 24 --postgres 14    one cell; both options can be repeated
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = `${root}matrix`;

/**
 * One run of a tier; `postgres` is null for the tier that has no database.
 * @typedef {{ tier: "unit" | "store", node: string, postgres: string | null }} Cell
 * @typedef {Cell & { isOk: boolean, seconds: number, counts: string }} Outcome
 */

/**
 * The versions that matrix/package.json offers: its dependencies are named node22, pg14 and so on.
 * @param {{ dependencies: Record<string, string> }} manifest
 */
export function versionsOf(manifest) {
  const of = (kind) => Object.keys(manifest.dependencies).flatMap((name) => name.match(`^${kind}(\\d+)$`)?.[1] ?? []);
  return { node: of("node"), postgres: of("pg") };
}

/**
 * The cells to run. Throws for a version that is not offered.
 * @param {readonly string[]} args
 * @param {{ node: string[], postgres: string[] }} offered
 * @returns {Cell[]}
 */
export function cellsOf(args, offered) {
  const several = { type: "string", multiple: true };
  const { values } = parseArgs({
    args: [...args],
    options: { node: several, postgres: several, quick: { type: "boolean" } },
  });
  const nodes = chooseVersions("node", values.node, offered.node);
  const servers = chooseVersions("postgres", values.postgres, offered.postgres);
  const middle = nodes[Math.floor(nodes.length / 2)];
  const storeNodes = values.quick ? [middle] : nodes;
  return [
    ...nodes.map((node) => ({ tier: "unit", node, postgres: null })),
    ...storeNodes.flatMap((node) => servers.map((postgres) => ({ tier: "store", node, postgres }))),
  ];
}

function chooseVersions(kind, requested, offered) {
  const unknown = (requested ?? []).filter((version) => !offered.includes(version));
  if (unknown.length > 0)
    throw new Error(`--${kind} ${unknown.join(", ")} is not in matrix/package.json. Available: ${offered.join(", ")}`);
  return requested ?? offered;
}

/**
 * A row for each Node, a column for the unit tier and one for each PostgreSQL.
 * @param {readonly Outcome[]} outcomes
 * @returns {string}
 */
export function tableOf(outcomes) {
  const column = ({ tier, postgres }) => (tier === "unit" ? "unit" : `store, PostgreSQL ${postgres}`);
  const columns = [...new Set(outcomes.map(column))];
  const nodes = [...new Set(outcomes.map(({ node }) => node))];
  const rows = nodes.map((node) => [
    `Node ${node}`,
    ...columns.map((name) => {
      const outcome = outcomes.find((one) => one.node === node && column(one) === name);
      return outcome ? `${outcome.isOk ? "ok" : "FAILED"} ${outcome.counts}, ${outcome.seconds.toFixed(0)} s` : "";
    }),
  ]);
  const lines = [["", ...columns], ...rows];
  const widths = lines[0].map((_, index) => Math.max(...lines.map((line) => line[index].length)));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(widths[index]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * The counts of a cell from vitest's report: the passed tests, or the failed ones, or the files that could not be loaded.
 * @param {{ numPassedTests: number, numFailedTests: number, testResults: { status: string }[] }} report
 */
export function countsOf({ numPassedTests, numFailedTests, testResults }) {
  if (numFailedTests > 0) return `${numFailedTests} of ${numPassedTests + numFailedTests}`;
  const files = testResults.filter(({ status }) => status === "failed").length;
  return files > 0 ? `${files} of ${testResults.length} files` : `${numPassedTests}`;
}

function install() {
  const lock = readFileSync(`${folder}/package-lock.json`, "utf8");
  const mark = `${folder}/node_modules/.installed-lock`;
  if (existsSync(mark) && readFileSync(mark, "utf8") === lock) return;
  console.log("fetching the versions (matrix/package-lock.json) …");
  const done = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: "inherit",
  });
  if (done.status !== 0) throw new Error("npm ci in matrix/ failed.");
  writeFileSync(mark, lock);
}

/** @param {Cell} cell @returns {Outcome} */
function run(cell) {
  const bin = `${folder}/node_modules/node${cell.node}/bin`;
  const binaries = cell.postgres === null ? null : `${folder}/node_modules/pg${cell.postgres}/native`;
  console.log(
    `\n── ${cell.tier} on Node ${cell.node}${binaries === null ? "" : ` and PostgreSQL ${cell.postgres}`} ${"─".repeat(30)}`,
  );
  const report = `${root}.tmp/matrix.json`;
  mkdirSync(`${root}.tmp`, { recursive: true });
  rmSync(report, { force: true });
  const args = ["run", "--project", cell.tier, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  delete env.CARILLON_TEST_DATABASE_URL; // It has precedence over the binaries.
  if (binaries !== null) env.CARILLON_TEST_POSTGRES_BINARIES = binaries;
  const startedAt = performance.now();
  const { status } = spawnSync(`${bin}/node`, [`${root}node_modules/vitest/vitest.mjs`, ...args], {
    cwd: root,
    stdio: "inherit",
    env,
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  if (!existsSync(report)) return { ...cell, isOk: false, seconds, counts: "no report" };
  const result = JSON.parse(readFileSync(report, "utf8"));
  return { ...cell, isOk: status === 0 && result.numPassedTests > 0, seconds, counts: countsOf(result) };
}

function main() {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error("The matrix has packages for Linux on x64 only.");
  const manifest = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const cells = cellsOf(process.argv.slice(2), versionsOf(manifest));
  install();
  const outcomes = cells.map(run);
  const failed = outcomes.filter(({ isOk }) => !isOk).length;
  console.log(`\n${tableOf(outcomes)}\n\n${outcomes.length} cells, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main();
  } catch (error) {
    console.error(`matrix: ${error.message}`);
    process.exitCode = 2;
  }
}
