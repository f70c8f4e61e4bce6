// How namespaces share workers that serve all of them: `npm run bench:fairness [-- --queued 100000] [-- --quick] [-- --json]`.
// Three namespaces with weights 3:1:1 have so many queued runs each; two nodes have 40 and 10 slots. The history shows the shares of the
// first runs, a tenth of one backlog. Then a fourth namespace is created, and the wait of its first run is measured.
import { Conditions, prepare, spec, startNode, startWorker } from "../engine-node.mjs";
import { describeMachine, printTable, readOptions, result, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";

const {
  quick: isQuick,
  json,
  queued = isQuick ? 3_000 : 100_000,
} = readOptions("bench:fairness", {
  queued: { value: "COUNT", doc: "queued runs of each namespace, 100,000 by default" },
});
const measured = Math.max(500, queued / 10);
const weights = { heavy: 3, light: 1, other: 1 };

async function fill({ namespaces, enqueuer }, name, weight) {
  await namespaces.create(name, weight);
  for (let made = 0; made < queued; made += 5_000) {
    const specs = Array.from({ length: Math.min(5_000, queued - made) }, () => spec);
    await enqueuer.enqueueMany(name, specs);
  }
}

async function measure({ url, reader }) {
  await prepare(url);
  const nodes = [await startNode(url, "a"), await startNode(url, "b")];
  const [first] = nodes;
  for (const [name, weight] of Object.entries(weights)) await fill(first.engine, name, weight);
  say(`${queued} runs queued in each of three namespaces`);
  let startedCount = 0;
  /** Start times, recorded from before the newcomer's call, because its run may start before the call returns. */
  let startTimes = null;
  const conditions = new Conditions();
  const onRuns = (assigned) => {
    startedCount += assigned.length;
    for (const { runId } of startTimes === null ? [] : assigned) startTimes.set(runId, performance.now());
    conditions.check();
  };
  const enough = conditions.until(() => startedCount >= measured * 1.2);
  const workers = { namespaces: ["*"], onRuns };
  const pauses = [
    await startWorker(first.engine, { ...workers, slots: 40 }),
    await startWorker(nodes[1].engine, { ...workers, slots: 10 }),
  ];
  await enough;
  await first.engine.namespaces.create("newcomer", 1);
  startTimes = new Map();
  const calledAt = performance.now();
  const newcomer = (await first.engine.enqueuer.enqueue("newcomer", spec)).id;
  const storedAt = performance.now();
  const arrived = conditions.until(() => startTimes.has(newcomer));
  conditions.check();
  await Promise.race([arrived, new Promise((resolve) => setTimeout(resolve, 5_000).unref())]);
  const callToStartMs = (startTimes.get(newcomer) ?? calledAt + 5_000) - calledAt;
  say(
    `the newcomer's first call took ${(storedAt - calledAt).toFixed(1)} ms, including the first queue of its namespace`,
  );
  await Promise.all(pauses.map((pause) => pause()));
  const { rows } = await reader.query(
    `select n.name, count(*)::int as count
     from (select namespace_id from carillon.run_history order by started_at, id limit ${measured}) r
     join carillon.namespace n on n.id = r.namespace_id group by 1`,
  );
  // By the clock of the database, from the insert to the claim.
  const { rows: found } = await reader.query(
    `select extract(epoch from started_at - created_at)::float8 * 1000 as ms from carillon.run_history where id = $1`,
    [newcomer],
  );
  const waitedMs = found[0]?.ms ?? 5_000;
  for (const node of nodes) await node.stop();
  return { rows, waitedMs, callToStartMs };
}

const postgres = await BenchPostgres.start();
const results = [];
try {
  const { rows, waitedMs, callToStartMs } = await postgres.withDatabase(measure);
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  for (const [name, weight] of Object.entries(weights)) {
    const got = rows.find((row) => row.name === name)?.count ?? 0;
    const deviation = Math.abs(got / (measured * (weight / sum)) - 1) * 100;
    say(`${name}: ${got} of ${measured}`);
    results.push(
      result({
        name: `${name}, weight ${weight}`,
        metric: "deviation from its share",
        unit: "%",
        ours: deviation,
        atMost: 10,
      }),
    );
  }
  results.push(
    result({
      name: "newcomer",
      metric: "from the insert to the start of its first run",
      unit: "ms",
      ours: waitedMs,
      atMost: 100,
    }),
  );
  results.push(
    result({
      name: "newcomer",
      metric: "from the call to the start of its first run",
      unit: "ms",
      ours: callToStartMs,
    }),
  );
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every(({ met }) => met !== false) ? 0 : 1;
