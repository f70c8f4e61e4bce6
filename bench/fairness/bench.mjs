// How workers that serve several namespaces are shared: `npm run bench:fairness [-- --queued 100000] [-- --quick] [-- --json]`.
// Three namespaces, weights 3:1:1, so many runs queued in each; two nodes with 40 and 10 slots. The shares of the first tenth of one
// backlog are taken from history; then a fourth namespace comes, and how long its first run waits is measured.
import { Moments, prepare, spec, startNode, startWorker } from "../engine-node.mjs";
import { describeMachine, printTable } from "../report.mjs";
import { result, say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";

const isQuick = process.argv.includes("--quick");
const queued = Number(process.argv[process.argv.indexOf("--queued") + 1]) || (isQuick ? 3_000 : 100_000);
const measured = Math.max(500, queued / 10);
const weights = { heavy: 3, light: 1, other: 1 };

async function fill({ api }, name, weight) {
  await api.createNamespace(name, weight);
  for (let made = 0; made < queued; made += 5_000) {
    const specs = Array.from({ length: Math.min(5_000, queued - made) }, () => spec);
    await api.enqueueMany(name, specs);
  }
}

async function measure({ url, reader }) {
  await prepare(url);
  const nodes = [await startNode(url, "a"), await startNode(url, "b")];
  const [first] = nodes;
  for (const [name, weight] of Object.entries(weights)) await fill(first.engine, name, weight);
  say(`${queued} runs queued in each of three namespaces`);
  let begun = 0;
  /** When runs began, from when the newcomer asks: its run may begin before its call is answered. */
  let begins = null;
  const moments = new Moments();
  const onRuns = (assigned) => {
    begun += assigned.length;
    for (const { runId } of begins === null ? [] : assigned) begins.set(runId, performance.now());
    moments.look();
  };
  const enough = moments.until(() => begun >= measured * 1.2);
  const workers = { namespaces: ["*"], onRuns };
  const pauses = [
    await startWorker(first.engine, { ...workers, slots: 40 }),
    await startWorker(nodes[1].engine, { ...workers, slots: 10 }),
  ];
  await enough;
  await first.engine.api.createNamespace("newcomer", 1);
  begins = new Map();
  const askedAt = performance.now();
  const newcomer = (await first.engine.api.enqueue("newcomer", spec)).id;
  const storedAt = performance.now();
  const arrived = moments.until(() => begins.has(newcomer));
  moments.look();
  await Promise.race([arrived, new Promise((resolve) => setTimeout(resolve, 5_000).unref())]);
  const askedMs = (begins.get(newcomer) ?? askedAt + 5_000) - askedAt;
  say(
    `the newcomer's run was asked for in ${(storedAt - askedAt).toFixed(1)} ms, its namespace's first queue included`,
  );
  await Promise.all(pauses.map((pause) => pause()));
  const { rows } = await reader.query(
    `select n.name, count(*)::int as count
     from (select namespace_id from carillon.run_history order by started_at, id limit ${measured}) r
     join carillon.namespace n on n.id = r.namespace_id group by 1`,
  );
  // By the database's clock: from when it was stored to when it was claimed.
  const { rows: found } = await reader.query(
    `select extract(epoch from started_at - created_at)::float8 * 1000 as ms from carillon.run_history where id = $1`,
    [newcomer],
  );
  const waitedMs = found[0]?.ms ?? 5_000;
  for (const node of nodes) await node.stop();
  return { rows, waitedMs, askedMs };
}

const site = await Site.start();
const results = [];
try {
  const { rows, waitedMs, askedMs } = await site.withDatabase(measure);
  const sum = Object.values(weights).reduce((total, weight) => total + weight, 0);
  for (const [name, weight] of Object.entries(weights)) {
    const got = rows.find((row) => row.name === name)?.count ?? 0;
    const offBy = Math.abs(got / (measured * (weight / sum)) - 1) * 100;
    say(`${name}: ${got} of ${measured}`);
    results.push(
      result({ name: `${name}, weight ${weight}`, metric: "off its share", unit: "%", ours: offBy, atMost: 10 }),
    );
  }
  results.push(
    result({ name: "newcomer", metric: "first run begins once it is stored", unit: "ms", ours: waitedMs, atMost: 100 }),
  );
  results.push(result({ name: "newcomer", metric: "from the call to its first run", unit: "ms", ours: askedMs }));
} finally {
  await site.stop();
}
const report = { machine: describeMachine(), results };
if (process.argv.includes("--json")) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = results.every(({ met }) => met !== false) ? 0 : 1;
