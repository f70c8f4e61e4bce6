// Schedules at scale: `npm run bench:schedules [-- --quick] [-- --json] [-- --only herd,failover,spread,instant]`.
// Real nodes (the command line) over an embedded PostgreSQL with fsync and synchronous_commit on. A run's lateness is when
// its row was written, by the database's clock, minus when it was due, read from the rows after the fact. Nobody executes
// the runs, except in the cases with handlers. Without --quick it takes about 15 minutes, with it two.
import { describeMachine, printTable } from "../report.mjs";
import { failoverCase } from "./cases/failover.mjs";
import { floorCase } from "./cases/floor.mjs";
import { handlersCase } from "./cases/handlers.mjs";
import { herdCase } from "./cases/herd.mjs";
import { instantCase, spreadCase } from "./cases/million.mjs";
import { say } from "./results.mjs";
import { Site } from "./site.mjs";

const quick = process.argv.includes("--quick");
const json = process.argv.includes("--json");
const only = optionOf("--only")?.split(",");
const sizeOf = (full) => Number(optionOf("--jobs") ?? full);
/** Where to put CPU profiles of the nodes, to see what they spend. */
const profile = optionOf("--profile");
const nodeFlags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];

function optionOf(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

const herds = quick ? 1 : 3;
const cases = {
  herd10k: (site, floor) => herdCase(site, { count: 10_000, herds, floor, nodeFlags, targets: { p99: 500 } }),
  herd100k: (site, floor) =>
    herdCase(site, { count: 100_000, herds, floor, nodeFlags, targets: { last: 3_000, high99: 1_000 } }),
  handlers10k: (site) => handlersCase(site, { count: 10_000, herds, nodeFlags, targets: { p99: 600 } }),
  handlers100k: (site) => handlersCase(site, { count: 100_000, herds, nodeFlags, targets: { last: 6_000 } }),
  failover: (site) => failoverCase(site, { count: 100_000 }),
  spread: (site) => spreadCase(site, { count: sizeOf(1_000_000), watchMs: 180_000, nodeFlags }),
  instant: (site, floor) => instantCase(site, { count: sizeOf(1_000_000), floor, nodeFlags }),
};
const wanted = only ?? (quick ? ["herd10k", "herd100k"] : Object.keys(cases));

const site = await Site.start();
let failed = false;
const results = [];
try {
  const { floor, results: floorResults } = await floorCase(site, { count: quick ? 50_000 : 200_000 });
  results.push(...floorResults);
  for (const name of wanted) {
    say(`case ${name}`);
    results.push(...(await cases[name](site, floor)));
  }
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await site.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = failed || results.some((result) => result.met === false) ? 1 : 0;
