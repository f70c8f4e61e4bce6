// Search over runs and jobs: `npm run bench:search [-- --rows 10000000] [-- --quick] [-- --json] [-- --only task,owner]`.
// So many finished runs over 14 days and a tenth as many jobs, made by SQL on an embedded PostgreSQL; then every filter alone and
// combined, by the engine's own calls, first pages and those after them. --quick is --rows 300000. 10 million rows take about 12 GB of
// disk and ten minutes.
import { randomBytes } from "node:crypto";
import { makeUuidV7, systemClock, systemRandom, systemTimers } from "../../packages/core/dist/index.js";
import { createEngine, migrate, openDatabase } from "../../packages/engine/dist/index.js";
import { describeMachine, printTable } from "../report.mjs";
import { result, say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";
import { jobCases, runCases } from "./cases.mjs";
import { fillHistory, fillJobs } from "./fill.mjs";

const targetMs = 50;
const rounds = 40;
const quick = process.argv.includes("--quick");
const rows = Number(optionOf("--rows") ?? (quick ? 300_000 : 10_000_000));
const only = optionOf("--only")?.split(",");
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };

function optionOf(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
}

/** First pages, and the page after each where there is one. */
async function measure(list, { namespace = "default", filterOf, order = {} }, { facts, site }) {
  const times = [];
  let found = 0;
  const cpu = site.cpuSeconds();
  const timed = async (filter, page) => {
    const begin = performance.now();
    const answer = await list(namespace, filter, { pageSize: 50, ...order, ...page });
    times.push(performance.now() - begin);
    found += answer.rows.length;
    return answer.next;
  };
  for (let round = 0; round < rounds; round++) {
    const filter = filterOf(round, facts);
    const next = await timed(filter, {});
    if (next !== null) await timed(filter, { after: next });
  }
  const cpuMs = ((site.cpuSeconds() - cpu) * 1_000) / times.length;
  return { p50: percentile(times, 0.5), p95: percentile(times, 0.95), found: found / times.length, cpuMs };
}

async function measureAll(api, where) {
  const results = [];
  const lists = [
    { kind: "runs", cases: runCases, list: (...args) => api.listRuns(...args) },
    { kind: "jobs", cases: jobCases, list: (...args) => api.listJobs(...args) },
  ];
  for (const { kind, cases, list } of lists) {
    for (const [name, how] of Object.entries(cases)) {
      if (only !== undefined && !only.includes(name)) continue;
      const { p50, p95, found, cpuMs } = await measure(list, how, where);
      const times = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`;
      say(`${kind} by ${name}: ${times}, ${cpuMs.toFixed(1)} ms of PostgreSQL, ${found.toFixed(0)} rows a page`);
      results.push(result({ name: `${kind} by ${name}`, metric: "p50", unit: "ms", ours: p50 }));
      results.push(result({ name: `${kind} by ${name}`, metric: "p95", unit: "ms", ours: p95, atMost: targetMs }));
    }
  }
  return results;
}

async function run(site, { url, reader }) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "bench", address: null, version: "0" };
  const engine = createEngine({ database, ...ports, newId, node, alone: true });
  try {
    await engine.api.createNamespace("small", 1);
    const facts = await fillHistory(reader, { rows, say });
    await fillJobs(reader, { count: Math.round(rows / 10), say });
    await reader.query("vacuum analyze");
    return await measureAll(engine.api, { facts, site });
  } finally {
    await database.close();
  }
}

const site = await Site.start();
let results;
try {
  results = await site.withDatabase((place) => run(site, place));
} finally {
  await site.stop();
}
const report = { machine: describeMachine(), results };
if (process.argv.includes("--json")) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every(({ met }) => met !== false) ? 0 : 1;
