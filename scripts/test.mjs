// Runs all tiers of the check, also after one has failed, and prints a summary: which failed, how long each took, how many tests ran.
// `npm test -- unit store` runs only the named tiers.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureTools, runTool } from "./tool.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const node = (...args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
const tsc = `${root}node_modules/@typescript/native/bin/tsc`;

/**
 * A folder in memory with enough room whose files can be executed, or null. The database clusters of tests consist of thousands of small
 * files, and the results do not depend on a disk.
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
    return { status: status || 1, passed: 0, failed: 1, skipped: 0, failures: ["vitest wrote no report"] };
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

/** A line with the first line of the message for each failed test of a file. A file that could not be loaded has no tests. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const describeFailure = (test) =>
    `${file} > ${test.fullName}: ${test.failureMessages[0]?.split("\n")[0] ?? "no message"}`;
  const failed = assertionResults.filter((test) => test.status === "failed").map(describeFailure);
  return failed.length === 0 && status === "failed" ? [`${file}: ${message.split("\n")[0]}`] : failed;
}

/** Runs scripts/acceptance.mjs; each cell of its table counts as a test. */
function acceptance() {
  mkdirSync(`${root}.tmp`, { recursive: true });
  const report = `${root}.tmp/acceptance.json`;
  rmSync(report, { force: true });
  const status = node("scripts/acceptance.mjs", "--link", "--json", report);
  const none = { passed: 0, failed: 1, skipped: 0 };
  return { status, ...(existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : none) };
}

/** The seed of a short plan that contains every kind of fault. */
const chaosArguments = ["--short", "--nodes", "3", "--seed", "1"];

/** The exit code of a void run: the machine was too busy, so the run proves nothing. */
const voidRun = 5;

/**
 * Runs real nodes under faults once (docs/guides/chaos.md); each check of the judge counts as a test. A void run is repeated once; if
 * the second run is void too, its checks count as skipped.
 */
function chaos() {
  mkdirSync(`${root}.tmp`, { recursive: true });
  const report = `${root}.tmp/chaos.json`;
  const runChaos = () => {
    rmSync(report, { force: true });
    return node("chaos/chaos.mjs", ...chaosArguments, "--json", report);
  };
  const built = node("scripts/build.mjs", "tsconfig.json", "chaos");
  let status = built || runChaos();
  if (status === voidRun) {
    console.log("\nchaos: the run is void and is repeated");
    status = runChaos();
  }
  const { checks } = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { checks: [{ ok: false }] };
  if (status === voidRun) return { status: 0, isVoid: true, passed: 0, failed: 0, skipped: checks.length };
  const passed = checks.filter((check) => check.ok).length;
  return { status, passed, failed: checks.length - passed, skipped: 0 };
}

/**
 * Installs servers and a library that some tests need from the system's packages, where that is possible. Only on a CI machine: the
 * machine of a developer is not changed. A test that needs a missing one reports that and is skipped.
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
  // After the build: the linter reads the types of the packages from its output.
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

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !(name in tiers));
if (unknown.length > 0) {
  console.error(`There is no tier ${unknown.join(", ")}. Tiers: ${Object.keys(tiers).join(", ")}`);
  process.exit(2);
}

ensureTools();
installServers();
const results = [];
for (const [name, run] of Object.entries(tiers)) {
  if (requested.length > 0 && !requested.includes(name)) continue;
  console.log(`\n── ${name} ${"─".repeat(70 - name.length)}`);
  const startedAt = performance.now();
  const outcome = run();
  const result = typeof outcome === "number" ? { status: outcome, passed: 0, failed: 0, skipped: 0 } : outcome;
  results.push({ name, seconds: (performance.now() - startedAt) / 1_000, ...result });
}

console.log(`\n${"─".repeat(74)}`);
for (const { name, seconds, status, isVoid, passed, failed, skipped } of results) {
  const counts = passed + failed + skipped > 0 ? `${passed} passed, ${failed} failed, ${skipped} skipped` : "";
  console.log(
    `${isVoid ? "VOID  " : status === 0 ? "ok    " : "FAILED"} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${counts}`,
  );
}
// Failures are repeated at the end, so that the last lines of a long output show them.
for (const { name, failures = [] } of results) for (const line of failures) console.log(`${name}  ${line}`);
const sum = (key) => results.reduce((total, result) => total + result[key], 0);
console.log(`total  ${sum("seconds").toFixed(1)} s`);
console.log(`\n${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
process.exitCode = results.some((result) => result.status !== 0) ? 1 : 0;
