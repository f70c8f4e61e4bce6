// Search over runs and jobs: `npm run bench:search [-- --rows 10000000] [-- --days 104] [-- --quick] [-- --json] [-- --only task,owner] [-- --keep folder]`.
// So many finished runs over so many days, each a partition, and a tenth as many jobs, made by SQL on an embedded PostgreSQL; then every
// filter alone and combined, by the engine's own calls: first pages with those after them, and pages deep in the list. --quick is
// --rows 300000. 10 million rows take about 12 GB of disk. With --keep they stay in the folder, and the next run with it loads nothing.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeUuidV7, systemClock, systemRandom, systemTimers, uuidV7Of } from "../../packages/core/dist/index.js";
import { createEngine, migrate, openDatabase } from "../../packages/engine/dist/index.js";
import { Client } from "pg";
import { describeMachine, printTable } from "../report.mjs";
import { result, say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";
import { jobCases, runCases, totalCases } from "./cases.mjs";
import { fillHistory, fillJobs } from "./fill.mjs";

const targetMs = 50;
const pageSize = 50;
const rounds = 40;
const countRounds = 3;
const dayMs = 86_400_000;
const quick = process.argv.includes("--quick");
const rows = Number(optionOf("--rows") ?? (quick ? 300_000 : 10_000_000));
const days = Number(optionOf("--days") ?? 104);
const only = optionOf("--only")?.split(",");
const kept = optionOf("--keep");
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
/** For the loading alone: what is measured writes nothing. */
const settings = { wal_level: "minimal", max_wal_senders: "0", max_wal_size: "8GB" };

function optionOf(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
}

/** Times of one case; `call` answers how many rows it found. */
function stopwatch(site) {
  const times = [];
  let found = 0;
  let cut = 0;
  const cpu = site.cpuSeconds();
  return {
    async time(call) {
      const begin = performance.now();
      const answer = await call();
      times.push(performance.now() - begin);
      found += answer.rows?.length ?? 1;
      if (answer.rows !== undefined && answer.rows.length < pageSize && answer.next !== null) cut += 1;
      return answer;
    },
    result: () => ({
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      most: Math.max(...times),
      found: found / times.length,
      cutPercent: (cut / times.length) * 100,
      cpuMs: ((site.cpuSeconds() - cpu) * 1_000) / times.length,
    }),
  };
}

/** First pages, and the page after each where there is one. */
async function firstPages(list, { namespace = "default", filterOf, order = {} }, { facts, site }) {
  const watch = stopwatch(site);
  for (let round = 0; round < rounds; round++) {
    const filter = filterOf(round, facts);
    const { next } = await watch.time(() => list(namespace, filter, { pageSize, ...order }));
    if (next !== null) await watch.time(() => list(namespace, filter, { pageSize, ...order, after: next }));
  }
  return watch.result();
}

/** Pages that begin anywhere in the list. */
async function deepPages(list, { namespace = "default", filterOf, order = {} }, { facts, site }) {
  const watch = stopwatch(site);
  for (let round = 0; round < rounds; round++) {
    const after = uuidV7Of(Math.floor(facts.endMs - ((round + 0.5) / rounds) * facts.days * dayMs), 0, 0, 0);
    await watch.time(() => list(namespace, filterOf(round, facts), { pageSize, ...order, after }));
  }
  return watch.result();
}

async function measureLists(api, where) {
  const results = [];
  const lists = [
    { kind: "runs", cases: runCases, list: (...args) => api.listRuns(...args) },
    { kind: "jobs", cases: jobCases, list: (...args) => api.listJobs(...args) },
  ];
  for (const { kind, cases, list } of lists) {
    for (const [name, how] of chosen(cases)) {
      results.push(...told(`${kind} by ${name}`, await firstPages(list, how, where)));
      if (kind === "runs") results.push(...told(`${kind} by ${name}, deep`, await deepPages(list, how, where)));
    }
  }
  return results;
}

async function measureTotals(api, { facts, site }) {
  const results = [];
  for (const [name, { filterOf, how }] of chosen(totalCases)) {
    const watch = stopwatch(site);
    for (let round = 0; round < (how === "exact" ? countRounds : rounds); round++) {
      await watch.time(() => api.totalRuns("default", filterOf(round, facts), how));
    }
    results.push(...told(`total of ${name}`, watch.result(), how === "estimate"));
  }
  return results;
}

function chosen(cases) {
  return Object.entries(cases).filter(([name]) => only === undefined || only.includes(name));
}

/** A page that is not full and not the last was cut short, by its time or by what it may look through: its time alone says too little. */
function told(name, { p50, p95, most, found, cutPercent, cpuMs }, isJudged = true) {
  const times = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, most ${most.toFixed(1)} ms`;
  const pages = `${found.toFixed(0)} rows a page, ${cutPercent.toFixed(0)} % of pages cut short`;
  say(`${name}: ${times}, ${cpuMs.toFixed(1)} ms of PostgreSQL, ${pages}`);
  return [
    result({ name, metric: "p50", unit: "ms", ours: p50 }),
    result({ name, metric: "p95", unit: "ms", ours: p95, ...(isJudged && { atMost: targetMs }) }),
    result({ name, metric: "processor time of PostgreSQL", unit: "ms", ours: cpuMs }),
    result({ name, metric: "pages cut short", unit: "%", ours: cutPercent }),
  ];
}

/** What is there to be searched: that of the folder that is kept, where there is any. */
async function loaded(load) {
  if (kept === undefined) return load();
  const file = join(kept, "facts.json");
  const known = await readFile(file, "utf8").catch(() => null);
  const facts = known === null ? await load() : JSON.parse(known);
  if (facts.rows !== rows || facts.days !== days)
    throw new Error(`${kept} has ${facts.rows} rows of ${facts.days} days`);
  await writeFile(file, JSON.stringify(facts));
  return facts;
}

async function run(site, { url, reader }) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "bench", address: null, version: "0" };
  const engine = createEngine({ database, ...ports, newId, node, alone: true });
  const connect = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    return client;
  };
  try {
    const facts = await loaded(async () => {
      await engine.api.createNamespace("small", 1);
      await engine.api.createNamespace("tiny", 1);
      const made = await fillHistory(reader, { rows, days, connect, say });
      await fillJobs(reader, { count: Math.round(rows / 10), say });
      return made;
    });
    return [
      ...(await measureLists(engine.api, { facts, site })),
      ...(await measureTotals(engine.api, { facts, site })),
    ];
  } finally {
    await database.close();
  }
}

const site = await Site.start(settings, kept);
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
