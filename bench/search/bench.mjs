// Search over runs and jobs: `npm run bench:search [-- --rows 10000000] [-- --days 104] [-- --quick] [-- --json] [-- --only task,owner] [-- --keep folder]`.
// Loads finished runs over so many days, with a partition per day, and a tenth as many jobs by SQL into an embedded PostgreSQL. Then
// measures every filter, alone and combined, through the engine's API: first pages, second pages, and pages deep in the list. --quick means
// --rows 300000. 10 million rows take about 12 GB of disk. With --keep the data stays in the folder, and the next run reuses it.
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { makeUuidV7, systemClock, systemRandom, systemTimers, uuidV7Of } from "../../packages/core/dist/index.js";
import { Engine, migrate, openDatabase } from "../../packages/engine/dist/index.js";
import { describeMachine, printTable, readOptions, result, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { jobCases, runCases, totalCases } from "./cases.mjs";
import { fillHistory, fillJobs } from "./fill.mjs";

const targetMs = 50;
const pageSize = 50;
const rounds = 40;
const countRounds = 3;
const dayMs = 86_400_000;
const {
  quick,
  json,
  only,
  keep: keptFolder,
  days = 104,
  rows = quick ? 300_000 : 10_000_000,
} = readOptions("bench:search", {
  only: { value: "LIST", doc: "these filters: task, owner, …" },
  rows: { value: "COUNT", doc: "finished runs, 10 million by default, with --quick 300,000" },
  days: { value: "COUNT", doc: "the days over which the runs are spread, 104 by default" },
  keep: { value: "FOLDER", doc: "keeps the data there, and reuses it in the next run" },
});
const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
/** Speeds up the load; the measured statements write nothing. */
const settings = { wal_level: "minimal", max_wal_senders: "0", max_wal_size: "8GB" };

function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)];
}

/** Collects the times of one case; `call` returns a page or a total. */
function stopwatch(postgres) {
  const times = [];
  let found = 0;
  let cutPages = 0;
  const cpu = postgres.cpuSeconds();
  return {
    async time(call) {
      const begin = performance.now();
      const answer = await call();
      times.push(performance.now() - begin);
      found += answer.rows?.length ?? 1;
      if (answer.rows !== undefined && answer.rows.length < pageSize && answer.next !== null) cutPages += 1;
      return answer;
    },
    result: () => ({
      p50: percentile(times, 0.5),
      p95: percentile(times, 0.95),
      max: Math.max(...times),
      found: found / times.length,
      cutPercent: (cutPages / times.length) * 100,
      cpuMs: ((postgres.cpuSeconds() - cpu) * 1_000) / times.length,
    }),
  };
}

/** First pages, and second pages where they exist. */
async function firstPages(list, { namespace = "default", toFilter, order = {} }, { facts, postgres }) {
  const watch = stopwatch(postgres);
  for (let round = 0; round < rounds; round++) {
    const filter = toFilter(round, facts);
    const { next } = await watch.time(() => list(namespace, filter, { pageSize, ...order }));
    if (next !== null) await watch.time(() => list(namespace, filter, { pageSize, ...order, after: next }));
  }
  return watch.result();
}

/** Pages that start anywhere in the list. */
async function deepPages(list, { namespace = "default", toFilter, order = {} }, { facts, postgres }) {
  const watch = stopwatch(postgres);
  for (let round = 0; round < rounds; round++) {
    const after = uuidV7Of(Math.floor(facts.endMs - ((round + 0.5) / rounds) * facts.days * dayMs), 0, 0, 0);
    await watch.time(() => list(namespace, toFilter(round, facts), { pageSize, ...order, after }));
  }
  return watch.result();
}

async function measureLists(engine, context) {
  const results = [];
  const lists = [
    { kind: "runs", cases: runCases, list: (...args) => engine.runs.list(...args) },
    { kind: "jobs", cases: jobCases, list: (...args) => engine.jobs.list(...args) },
  ];
  for (const { kind, cases, list } of lists) {
    for (const [name, options] of selected(cases)) {
      results.push(...toResults(`${kind} by ${name}`, await firstPages(list, options, context)));
      if (kind === "runs")
        results.push(...toResults(`${kind} by ${name}, deep`, await deepPages(list, options, context)));
    }
  }
  return results;
}

async function measureTotals(engine, { facts, postgres }) {
  const results = [];
  for (const [name, { toFilter, how }] of selected(totalCases)) {
    const watch = stopwatch(postgres);
    for (let round = 0; round < (how === "exact" ? countRounds : rounds); round++) {
      await watch.time(() => engine.runs.total("default", toFilter(round, facts), how));
    }
    results.push(...toResults(`total of ${name}`, watch.result(), how === "estimate"));
  }
  return results;
}

function selected(cases) {
  return Object.entries(cases).filter(([name]) => only === undefined || only.includes(name));
}

/** A page that is neither full nor the last was cut short by its time budget or its scan limit, so its time alone is not conclusive. */
function toResults(name, { p50, p95, max, found, cutPercent, cpuMs }, hasTarget = true) {
  const times = `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, max ${max.toFixed(1)} ms`;
  const pages = `${found.toFixed(0)} rows a page, ${cutPercent.toFixed(0)} % of pages cut short`;
  say(`${name}: ${times}, ${cpuMs.toFixed(1)} ms of PostgreSQL, ${pages}`);
  return [
    result({ name, metric: "p50", unit: "ms", ours: p50 }),
    result({ name, metric: "p95", unit: "ms", ours: p95, ...(hasTarget && { atMost: targetMs }) }),
    result({ name, metric: "CPU time of PostgreSQL", unit: "ms", ours: cpuMs }),
    result({ name, metric: "pages cut short", unit: "%", ours: cutPercent }),
  ];
}

/** Loads the data, unless the kept folder has it already. */
async function loadOnce(load) {
  if (keptFolder === undefined) return load();
  const file = join(keptFolder, "facts.json");
  const known = await readFile(file, "utf8").catch(() => null);
  const facts = known === null ? await load() : JSON.parse(known);
  if (facts.rows !== rows || facts.days !== days)
    throw new Error(`${keptFolder} has ${facts.rows} rows of ${facts.days} days`);
  await writeFile(file, JSON.stringify(facts));
  return facts;
}

async function run(postgres, { url, reader }) {
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  const newId = makeUuidV7({ now: () => database.clock.now(), randomBytes });
  const node = { name: "bench", address: null, version: "0" };
  const engine = new Engine({ database, ...ports, newId, node, alone: true });
  const connect = async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    return client;
  };
  try {
    const facts = await loadOnce(async () => {
      await engine.namespaces.create("small", 1);
      await engine.namespaces.create("tiny", 1);
      const made = await fillHistory(reader, { rows, days, connect, say });
      await fillJobs(reader, { count: Math.round(rows / 10), say });
      return made;
    });
    return [
      ...(await measureLists(engine, { facts, postgres })),
      ...(await measureTotals(engine, { facts, postgres })),
    ];
  } finally {
    await database.close();
  }
}

const postgres = await BenchPostgres.start(settings, keptFolder);
let results;
try {
  results = await postgres.withDatabase((connection) => run(postgres, connection));
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every(({ met }) => met !== false) ? 0 : 1;
