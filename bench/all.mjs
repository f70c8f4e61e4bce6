// Runs the benchmarks one after the other: `npm run bench [-- --quick] [-- --json] [-- --only queue,cron]`. Single cases of the queue:
// `-- --only queue --cases drain,latency [--rounds 1] [--systems carillon,pg-boss]`; their results replace those of the same cases.
// Writes the results to bench/results/<name>.json and draws bench/results/overview.svg from all of these files. With --quick the results
// are printed and not written: such a run only checks that the benchmarks work.
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { describeMachine, printTable, readOptions } from "./report.mjs";
import { drawOverview } from "./overview.mjs";

const folder = new URL("results/", import.meta.url);
const benchmarks = [
  "cron",
  "wheel",
  "queue",
  "claims",
  "fairness",
  "limits",
  "far-future",
  "failover",
  "schedules",
  "search",
];
const {
  quick,
  json,
  only = benchmarks,
  cases = null,
  rounds = null,
  systems = null,
} = readOptions("bench", {
  only: { value: "LIST", choices: benchmarks, doc: "these benchmarks" },
  cases: { value: "CASES", doc: "the option --only of the benchmark itself" },
  rounds: { value: "COUNT", doc: "its option --rounds" },
  systems: { value: "SYSTEMS", doc: "its option --systems" },
});
/** Options for the benchmark itself. */
const forwardedOptions = Object.entries({ "--only": cases, "--rounds": rounds, "--systems": systems }).flatMap(
  ([option, value]) => (value === null ? [] : [option, String(value)]),
);

/** Runs one benchmark and returns the report that it prints as JSON. Its progress is printed to stderr. */
async function run(name) {
  const script = new URL(`${name}/bench.mjs`, import.meta.url).pathname;
  const args = ["--expose-gc", script, "--json", ...(quick ? ["--quick"] : []), ...forwardedOptions];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const part of child.stdout) text += part;
  const line = text
    .trimEnd()
    .split("\n")
    .findLast((one) => one.startsWith('{"machine"'));
  if (line === undefined) throw new Error(`bench:${name} printed no results`);
  return JSON.parse(line);
}

const reports = [];
for (const name of only) {
  console.error(`── ${name} ${"─".repeat(60 - name.length)}`);
  const report = await run(name);
  reports.push(report);
  if (quick) continue;
  await mkdir(folder, { recursive: true });
  const complete = cases === null ? report : await withOtherCases(name, report);
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify(complete, null, 2)}\n`);
}
if (!quick) await writeFile(new URL("overview.svg", folder), drawOverview(await storedReports()));

const combined = { machine: describeMachine(), results: reports.flatMap((report) => report.results) };
if (json) console.log(JSON.stringify(combined));
else printTable(combined);
process.exitCode = combined.results.some((result) => result.met === false) ? 1 : 0;

/** The new results, and the stored results of the cases that were not measured this time. */
async function withOtherCases(name, report) {
  const stored = await readFile(new URL(`${name}.json`, folder), "utf8").then(JSON.parse, () => ({ results: [] }));
  const measured = new Set(report.results.map((result) => result.case));
  return { ...report, results: [...stored.results.filter((one) => !measured.has(one.case)), ...report.results] };
}

async function storedReports() {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, folder), "utf8"))));
}
