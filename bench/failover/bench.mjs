// How long shards have no owner after a node is lost: `npm run bench:failover [-- --quick] [-- --json] [-- --only killed,frozen,pooler,etcd]`.
// Two real nodes with the default lease share the shards over an embedded PostgreSQL. One of them is lost repeatedly, at a random
// moment; the rows show when the other owned all shards and when it first fired a job of a moved shard. A scenario whose server is not
// installed is skipped with a message.
import { describeMachine, median, printTable, readOptions, result, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { measureLosses } from "./lose.mjs";
import { scenarios } from "./scenarios.mjs";

const {
  quick,
  json,
  only = null,
} = readOptions("bench:failover", {
  only: { value: "LIST", choices: ["killed", "frozen", "pooler", "etcd"], doc: "these scenarios" },
});
const repetitions = (full) => (quick ? 2 : full);

const leaseMs = 5_000;
const targets = { killed: 2_000, frozen: leaseMs + 2_000, pooler: leaseMs + 2_000, etcd: leaseMs + 2_000 };

function toResults(name, scenario, losses) {
  const target = targets[scenario];
  const lines = [
    { metric: "all shards owned again, p50", of: median, by: "ownedMs" },
    { metric: "all shards owned again, max", of: max, by: "ownedMs", atMost: target },
    { metric: "first fire of a moved shard, p50", of: median, by: "firedMs" },
    { metric: "first fire of a moved shard, max", of: max, by: "firedMs", atMost: target },
  ];
  return lines.map(({ metric, of, by, atMost }) => {
    const ours = Math.round(of(losses.map((loss) => loss[by])));
    return result({ name, metric, unit: "ms", ours, ...(atMost !== undefined && { atMost }) });
  });
}

const max = (values) => Math.max(...values);

async function measure(postgres, scenario) {
  const { name, isInstalled, repeats } = scenarios[scenario];
  if (!isInstalled()) {
    say(`${name}: skipped, its server is not installed`);
    return [];
  }
  const losses = await measureLosses(postgres, scenarios[scenario], repetitions(repeats));
  return toResults(`${name}, ${losses.length} times`, scenario, losses);
}

const postgres = await BenchPostgres.start();
const results = [];
let failed = false;
try {
  for (const scenario of Object.keys(scenarios))
    if (only === null || only.includes(scenario)) results.push(...(await measure(postgres, scenario)));
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = failed || results.some(({ met }) => met === false) ? 1 : 0;
