// Cost of limits: `npm run bench:limits [-- --runs 20000] [-- --quick] [-- --json]`.
// Stores the runs, then a worker of a node in this process drains them; measured from the first claim to the last end. The floor of
// each result is the drain without limits.
import { Conditions, prepare, spec, startNode, startWorker } from "../engine-node.mjs";
import { describeMachine, median, printTable, readOptions, result, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";

const {
  quick: isQuick,
  json,
  runs = isQuick ? 1_000 : 20_000,
} = readOptions("bench:limits", { runs: { value: "COUNT", doc: "runs of each case, 20,000 by default" } });
const rounds = isQuick ? 1 : 3;
const slots = 100;
const keys = 100;

/** Limits that are never reached, so that only their bookkeeping is measured; ordering keys do serialize runs. */
const cases = [
  { name: "no limits" },
  { name: "namespace limit", own: { concurrency: { limit: 10 * slots } } },
  { name: `key limit, ${keys} keys`, policy: { concurrency: { key: "{payload.key}", limit: slots } } },
  {
    name: `rate limit, ${keys} keys`,
    policy: { rateLimit: { key: "{payload.key}", limit: 1_000_000, perMs: 60_000 } },
  },
  { name: `ordering keys, ${keys}`, policy: { ordering: { key: "{payload.key}" } } },
];

async function store({ enqueuer }, policy) {
  const size = 1_000;
  for (let made = 0; made < runs; made += size) {
    const specs = Array.from({ length: Math.min(size, runs - made) }, (_, at) => {
      return { ...spec, policy, payload: { key: `k${(made + at) % keys}` } };
    });
    const stored = await enqueuer.enqueueMany("default", specs);
    const refused = stored.find((one) => "error" in one);
    if (refused !== undefined) throw refused.error;
  }
}

/** Returns the runs per second. */
async function drain({ url }, { own, policy = {} }) {
  await prepare(url);
  const node = await startNode(url, "bench");
  if (own !== undefined) await node.engine.namespaces.change("default", own, { actor: null });
  await store(node.engine, policy);
  const conditions = new Conditions();
  let startedCount = 0;
  const allStarted = conditions.until(() => startedCount >= runs);
  const started = performance.now();
  const pause = await startWorker(node.engine, {
    slots,
    onRuns(assigned) {
      startedCount += assigned.length;
      conditions.check();
    },
  });
  await allStarted;
  await pause();
  const seconds = (performance.now() - started) / 1_000;
  await node.stop();
  return runs / seconds;
}

const postgres = await BenchPostgres.start();
const results = [];
try {
  let floor = null;
  for (const one of cases) {
    const rates = [];
    for (let round = 0; round < rounds; round++) rates.push(await postgres.withDatabase((at) => drain(at, one)));
    const ours = median(rates);
    floor ??= ours;
    say(`${one.name}: ${Math.round(ours)} runs/s, ${(1_000_000 / ours).toFixed(0)} µs a run`);
    results.push(result({ name: one.name, metric: `drain of ${runs}`, unit: "runs/s", ours, floor }));
  }
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
