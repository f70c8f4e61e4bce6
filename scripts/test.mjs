// The whole check, tier by tier. Stops at nothing: every tier runs, the summary says which failed, how long each took and
// how many tests ran. `npm test -- unit store` runs only the named tiers.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureTools, runTool } from "./tool.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = (...args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
const tsc = `${root}node_modules/@typescript/native/bin/tsc`;

/**
 * A folder in memory, if there is one with room whose files can be executed: clusters of tests are made of thousands of small files, and
 * what they show does not depend on a disk.
 */
function memoryFolder(folder = "/dev/shm") {
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 4 * 1024 ** 3) return null;
    const probe = mkdtempSync(`${folder}/carillon-probe-`);
    try {
      writeFileSync(`${probe}/true`, "#!/bin/sh\n", { mode: 0o755 });
      return spawnSync(`${probe}/true`).status === 0 ? folder : null;
    } finally {
      rmSync(probe, { recursive: true });
    }
  } catch {
    return null;
  }
}

/** Runs one vitest project and reads its counts from its JSON report. */
function vitest(project, env = {}) {
  mkdirSync(`${root}.tmp`, { recursive: true });
  const report = `${root}.tmp/vitest-${project}.json`;
  rmSync(report, { force: true });
  const args = ["run", "--project", project, "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const { status } = spawnSync(process.execPath, [`${root}node_modules/vitest/vitest.mjs`, ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  if (!existsSync(report))
    return { status: status || 1, passed: 0, failed: 1, skipped: 0, failures: ["no report came"] };
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  return {
    status: status ?? 1,
    passed: numPassedTests,
    failed: numFailedTests,
    skipped: numPendingTests + numTodoTests,
    failures: testResults.flatMap(failuresOf),
  };
}

/** What failed in a test file, and by which words: a line each. A file that could not be run at all has no tests. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const said = (test) => `${file} > ${test.fullName}: ${test.failureMessages[0]?.split("\n")[0] ?? "no message"}`;
  const failed = assertionResults.filter((test) => test.status === "failed").map(said);
  return failed.length === 0 && status === "failed" ? [`${file}: ${message.split("\n")[0]}`] : failed;
}

/** The packed product in an empty folder, by curl, by the command line and in code; each cell of its table counts as a test. */
function acceptance() {
  mkdirSync(`${root}.tmp`, { recursive: true });
  const report = `${root}.tmp/acceptance.json`;
  rmSync(report, { force: true });
  const status = node("scripts/acceptance.mjs", "--link", "--json", report);
  const none = { passed: 0, failed: 1, skipped: 0 };
  return { status, ...(existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : none) };
}

/** A plan of the short form in which every kind of fault is drawn. */
const chaosRun = ["--short", "--nodes", "3", "--seed", "1"];

/** The exit code of a run that proves nothing because the machine had no time for it. */
const starved = 5;

/**
 * One judged run of real nodes under faults (docs/guides/chaos.md); each question that the judge answers counts as a test. A run
 * that is void because the machine had no time for it is tried once more; if that is void too, its questions count as skipped.
 */
function chaos() {
  mkdirSync(`${root}.tmp`, { recursive: true });
  const report = `${root}.tmp/chaos.json`;
  const judged = () => {
    rmSync(report, { force: true });
    return node("chaos/chaos.mjs", ...chaosRun, "--json", report);
  };
  const built = node("scripts/build.mjs", "tsconfig.json", "chaos");
  let status = built || judged();
  if (status === starved) {
    console.log("\nchaos: void, once more");
    status = judged();
  }
  const { checks } = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { checks: [{ ok: false }] };
  if (status === starved) return { status: 0, isVoid: true, passed: 0, failed: 0, skipped: checks.length };
  const passed = checks.filter((check) => check.ok).length;
  return { status, passed, failed: checks.length - passed, skipped: 0 };
}

/**
 * Servers and a library from the system's packages that some tests need. On a CI machine they are installed where that is
 * possible; nobody else's machine is changed. Tests that miss one say so and are skipped.
 */
function installServers() {
  if (!process.env.CI) return;
  for (const name of ["pgbouncer", "etcd", "libfaketime", "promtool"]) {
    const script = `scripts/servers/${name}.sh`;
    const done = spawnSync("sh", [script, "install"], { cwd: root, encoding: "utf8" });
    console.log(
      done.status === 0
        ? `${script}: ${done.stdout.trim().split("\n").at(-1)}`
        : `${script}: not installed, its tests are skipped`,
    );
  }
}

const tiers = {
  format: () => runTool("oxfmt", ["--check", "."]),
  types: () => node("scripts/build.mjs", "tsconfig.json", "chaos") || node(tsc, "-p", "tsconfig.tests.json"),
  // After the build: the linter reads the types of the packages from there.
  lint: () => runTool("oxlint", ["--type-aware", "."]),
  arrows: () => node("scripts/check/arrows.mjs") || node("scripts/check/ambient.mjs"),
  dead: () => runTool("knip", []),
  generated: () => node("scripts/check/generated.mjs"),
  docs: () => node("scripts/check/docs.mjs"),
  words: () => node("scripts/check/words.mjs", "--ratchet"),
  packages: () => node("scripts/pack.mjs"),
  unit: () => vitest("unit"),
  store: () => vitest("store"),
  cluster: () => {
    const folder = memoryFolder();
    return vitest("cluster", folder === null ? {} : { TMPDIR: folder });
  },
  acceptance,
  chaos,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in tiers));
if (unknown.length > 0) {
  console.error(`no tier ${unknown.join(", ")}; there are ${Object.keys(tiers).join(", ")}`);
  process.exit(2);
}

ensureTools();
installServers();
const results = [];
for (const [name, run] of Object.entries(tiers)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`\n── ${name} ${"─".repeat(70 - name.length)}`);
  const begun = performance.now();
  const outcome = run();
  const result = typeof outcome === "number" ? { status: outcome, passed: 0, failed: 0, skipped: 0 } : outcome;
  results.push({ name, seconds: (performance.now() - begun) / 1_000, ...result });
}

console.log(`\n${"─".repeat(74)}`);
for (const { name, seconds, status, isVoid, passed, failed, skipped } of results) {
  const counts = passed + failed + skipped > 0 ? `${passed} passed, ${failed} failed, ${skipped} skipped` : "";
  console.log(
    `${isVoid ? "VOID  " : status === 0 ? "ok    " : "FAILED"} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${counts}`,
  );
}
// Again at the end: whoever sees only the last lines of a long output sees what failed.
for (const { name, failures = [] } of results) for (const line of failures) console.log(`${name}  ${line}`);
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log(`total  ${sum("seconds").toFixed(1)} s`);
console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exitCode = results.some((result) => result.status !== 0) ? 1 : 0;
