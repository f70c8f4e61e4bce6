// Everything against the peers, one benchmark after the other: `npm run bench [-- --quick] [-- --json] [-- --only queue,cron]`; of the queue
// also parts: `-- --only queue --cases drain,latency [--rounds 1] [--systems carillon,pg-boss]`, whose results replace those of the same
// cases. Keeps what each printed in bench/results/<name>.json and draws bench/results/overview.svg from all that is there. What was
// measured with --quick is printed and not kept: it says that the benchmarks work, and little else.
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { describeMachine, printTable } from "./report.mjs";
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
const quick = process.argv.includes("--quick");
const valueOf = (option) => {
  const index = process.argv.indexOf(option);
  return index === -1 ? null : (process.argv[index + 1] ?? "");
};
const cases = valueOf("--cases");
/** Options of the benchmark itself. */
const passedOn = [
  ["--only", cases],
  ["--rounds", valueOf("--rounds")],
  ["--systems", valueOf("--systems")],
].flatMap(([option, value]) => (value === null ? [] : [option, value]));
const at = process.argv.indexOf("--only");
const only = at === -1 ? benchmarks : (process.argv[at + 1] ?? "").split(",");
const unknown = only.filter((name) => !benchmarks.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(", ")}; there are ${benchmarks.join(", ")}`);
  process.exit(2);
}

/** What one benchmark printed as its object; its progress goes on to stderr. */
async function run(name) {
  const script = new URL(`${name}/bench.mjs`, import.meta.url).pathname;
  const args = ["--expose-gc", script, "--json", ...(quick ? ["--quick"] : []), ...passedOn];
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
  const whole = cases === null ? report : await withOtherCases(name, report);
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify(whole, null, 2)}\n`);
}
if (!quick) await writeFile(new URL("overview.svg", folder), drawOverview(await kept()));

const together = { machine: describeMachine(), results: reports.flatMap((report) => report.results) };
if (process.argv.includes("--json")) console.log(JSON.stringify(together));
else printTable(together);
process.exitCode = together.results.some((result) => result.met === false) ? 1 : 0;

/** What was measured now, and of what was kept before the cases that were not. */
async function withOtherCases(name, report) {
  const before = await readFile(new URL(`${name}.json`, folder), "utf8").then(JSON.parse, () => ({ results: [] }));
  const measured = new Set(report.results.map((result) => result.case));
  return { ...report, results: [...before.results.filter((one) => !measured.has(one.case)), ...report.results] };
}

async function kept() {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, folder), "utf8"))));
}
