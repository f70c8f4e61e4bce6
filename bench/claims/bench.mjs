// What a run costs from its claim to history, the statement alone: `npm run bench:claims [-- --rows 200000] [-- --json]`.
// The product's table and statement on an embedded PostgreSQL with fsync and synchronous commits on, beside other ways to keep
// the table (docs/adr/0011); less than 10 s for each way.
import { describeMachine, printTable } from "../report.mjs";
import { result, say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";
import { measureStatement } from "./measure.mjs";
import { ways } from "./ways.mjs";

const rows = Number(process.argv[process.argv.indexOf("--rows") + 1] || 200_000) || 200_000;

async function measure(site, way) {
  const { rate, cpuUs } = await measureStatement(site, { rows, way });
  say(`${way.name}: ${Math.round(rate)} runs/s, ${cpuUs.toFixed(1)} µs of PostgreSQL`);
  return [
    result({ name: way.name, metric: "rate", unit: "runs/s", ours: rate }),
    result({ name: way.name, metric: "processor time of PostgreSQL", unit: "µs/run", ours: cpuUs }),
  ];
}

const site = await Site.start();
const results = [];
try {
  for (const way of ways) results.push(...(await measure(site, way)));
} finally {
  await site.stop();
}
const report = { machine: describeMachine(), results };
if (process.argv.includes("--json")) console.log(JSON.stringify(report));
else printTable(report);
