// Schedules at scale: `npm run bench:schedules [-- --quick] [-- --json] [-- --only herd,failover,spread,instant]`.
// Real nodes (the command line) over an embedded PostgreSQL with fsync and synchronous_commit on. The lateness of a run is the time when
// its row was written, by the clock of the database, minus its due time; it is read from the rows afterwards. Runs are executed only in
// the cases with handlers. Takes about 15 minutes, with --quick two.
import { describeMachine, printTable, readOptions, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { failoverCase } from "./cases/failover.mjs";
import { floorCase } from "./cases/floor.mjs";
import { handlersCase } from "./cases/handlers.mjs";
import { herdCase } from "./cases/herd.mjs";
import { instantCase, spreadCase } from "./cases/million.mjs";

const { quick, json, only, jobs, profile } = readOptions("bench:schedules", {
  only: {
    value: "LIST",
    choices: ["herd10k", "herd100k", "handlers10k", "handlers100k", "failover", "spread", "instant"],
    doc: "these cases",
  },
  jobs: { value: "COUNT", doc: "jobs of the cases spread and instant, a million by default" },
  profile: { value: "FOLDER", doc: "gets CPU profiles of the nodes" },
});
const sizeOf = (full) => jobs ?? full;
const nodeFlags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];

const herds = quick ? 1 : 3;
const cases = {
  herd10k: (postgres, floor) => herdCase(postgres, { count: 10_000, herds, floor, nodeFlags, targets: { p99: 500 } }),
  herd100k: (postgres, floor) =>
    herdCase(postgres, { count: 100_000, herds, floor, nodeFlags, targets: { last: 3_000, high99: 1_000 } }),
  handlers10k: (postgres) => handlersCase(postgres, { count: 10_000, herds, nodeFlags, targets: { p99: 600 } }),
  handlers100k: (postgres) => handlersCase(postgres, { count: 100_000, herds, nodeFlags, targets: { last: 6_000 } }),
  failover: (postgres) => failoverCase(postgres, { count: 100_000 }),
  spread: (postgres) => spreadCase(postgres, { count: sizeOf(1_000_000), watchMs: 180_000, nodeFlags }),
  instant: (postgres, floor) => instantCase(postgres, { count: sizeOf(1_000_000), floor, nodeFlags }),
};
const wanted = only ?? (quick ? ["herd10k", "herd100k"] : Object.keys(cases));

const postgres = await BenchPostgres.start();
let failed = false;
const results = [];
try {
  const { floor, results: floorResults } = await floorCase(postgres, { count: quick ? 50_000 : 200_000 });
  results.push(...floorResults);
  for (const name of wanted) {
    say(`case ${name}`);
    results.push(...(await cases[name](postgres, floor)));
  }
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
process.exitCode = failed || results.some((result) => result.met === false) ? 1 : 0;
