// Runs a benchmark in this checkout and in another one in turns, and prints how each figure changed:
//   npm run bench:compare -- ../before queue --turns 3 -- --systems carillon --rounds 1 --only drain,enqueue
// The other folder is a built checkout of the commit to compare with. Exit code 1 if a median is worse by more than --tolerance percent (3 by
// default) and also worse than every turn of the other checkout: a smaller difference is the machine's own noise.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median, say } from "./report.mjs";

const here = fileURLToPath(new URL("..", import.meta.url));
const usage =
  "usage: npm run bench:compare -- FOLDER BENCH [--turns N] [--tolerance PERCENT] [-- options of the benchmark]";
const [own, passedOn] = splitAt(process.argv.slice(2), "--");
if (own.includes("--help") || own.includes("-h")) {
  console.log(usage);
  process.exit(0);
}
const { values, positionals } = ownOptions();
const [other, bench] = positionals;
if (other === undefined || bench === undefined) refuse("FOLDER and BENCH are missing.");

/** Figures by case and metric, one for each turn. */
const before = new Map();
const after = new Map();
const lessIsBetter = new Set();

for (let turn = 1; turn <= Number(values.turns); turn += 1) {
  // The second of two runs may profit from the first, so the order alternates.
  const pair = [() => measure(resolve(other), before), () => measure(here, after)];
  for (const run of turn % 2 === 0 ? pair.toReversed() : pair) run();
  say(`turn ${turn} of ${values.turns} is done`);
}
process.exitCode = printComparison() ? 1 : 0;

function ownOptions() {
  const options = { turns: { type: "string", default: "3" }, tolerance: { type: "string", default: "3" } };
  try {
    return parseArgs({ args: own, allowPositionals: true, options });
  } catch (error) {
    return refuse(error.message);
  }
}

function refuse(reason) {
  console.error(`${reason}\n${usage}`);
  process.exit(64);
}

function measure(folder, figures) {
  const args = [`bench/${bench}/bench.mjs`, "--json", ...passedOn];
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for (const { case: name, metric, unit, ours } of JSON.parse(stdout).results) {
    if (ours === undefined || ours === null) continue;
    const key = `${name}: ${metric}`;
    if (!unit.endsWith("/s") && unit !== "ratio") lessIsBetter.add(key);
    figures.set(key, [...(figures.get(key) ?? []), ours]);
  }
}

/** Returns whether a figure got worse beyond tolerance and noise. */
function printComparison() {
  let isWorse = false;
  for (const [key, now] of after) {
    const then = before.get(key);
    if (then === undefined) continue;
    const sign = lessIsBetter.has(key) ? -1 : 1;
    const change = (median(now) / median(then) - 1) * 100;
    const isLost = sign * change < -Number(values.tolerance) && then.every((value) => sign * (median(now) - value) < 0);
    isWorse ||= isLost;
    const text = `${change >= 0 ? "+" : ""}${change.toFixed(1)} %${isLost ? "  WORSE" : ""}`;
    console.log(`${key.padEnd(70)} ${rounded(then)} → ${rounded(now)}  ${text}`);
  }
  return isWorse;
}

function rounded(turns) {
  const shown = turns.map((value) => Number(value.toPrecision(3)).toLocaleString("en")).join(" / ");
  return turns.length === 1 ? shown : `${Number(median(turns).toPrecision(3)).toLocaleString("en")} (${shown})`;
}

function splitAt(list, separator) {
  const at = list.indexOf(separator);
  return at === -1 ? [list, []] : [list.slice(0, at), list.slice(at + 1)];
}
