// How long shards are without an owner: `npm run bench:failover [-- --quick] [-- --json] [-- --only killed,frozen,pooler,etcd]`.
// Two real nodes with the default lease share the shards over an embedded PostgreSQL; again and again the one of them is lost
// at a random moment, and the rows tell when the other owned everything and when it first fired for a shard that had moved.
// A way whose server is not installed is left out, and that is said.
import { describeMachine, printTable } from "../report.mjs";
import { median, result, say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";
import { loseAgainAndAgain } from "./lose.mjs";
import { ways } from "./ways.mjs";

const quick = process.argv.includes("--quick");
const json = process.argv.includes("--json");
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1].split(",") : null;
const repetitions = (full) => (quick ? 2 : full);

const leaseMs = 5_000;
const targets = { killed: 2_000, frozen: leaseMs + 2_000, pooler: leaseMs + 2_000, etcd: leaseMs + 2_000 };

function figures(name, way, losses) {
  const target = targets[way];
  const lines = [
    { metric: "all shards owned again, p50", of: median, by: "ownedMs" },
    { metric: "all shards owned again, max", of: most, by: "ownedMs", atMost: target },
    { metric: "first fire of a moved shard, p50", of: median, by: "firedMs" },
    { metric: "first fire of a moved shard, max", of: most, by: "firedMs", atMost: target },
  ];
  return lines.map(({ metric, of, by, atMost }) => {
    const ours = Math.round(of(losses.map((loss) => loss[by])));
    return result({ name, metric, unit: "ms", ours, ...(atMost !== undefined && { atMost }) });
  });
}

const most = (values) => Math.max(...values);

async function measure(site, way) {
  const { name, isInstalled, full } = ways[way];
  if (!isInstalled()) {
    say(`${name}: left out, its server is not installed`);
    return [];
  }
  const losses = await loseAgainAndAgain(site, ways[way], repetitions(full));
  return figures(`${name}, ${losses.length} times`, way, losses);
}

const site = await Site.start();
const results = [];
let failed = false;
try {
  for (const way of Object.keys(ways))
    if (only === null || only.includes(way)) results.push(...(await measure(site, way)));
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await site.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = failed || results.some(({ met }) => met === false) ? 1 : 0;
