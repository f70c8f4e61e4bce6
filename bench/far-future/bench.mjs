// One-off jobs far from their time:
// `npm run bench:far-future [-- --quick] [-- --json] [-- --only run,plain,byDay,byMonth] [-- --rows 1000000]`.
// The product's tables and statements on an embedded PostgreSQL with fsync and synchronous_commit on; far_future_run as it is
// beside the same partitioned by due day and by month. A line with a floor is compared with it, both taken turn by turn.
// Without --quick 5 million rows are stored in each, which takes two or three minutes for each.
import { describeMachine, printTable, readOptions, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { bytesInRun, layoutCase } from "./cases.mjs";
import { layouts } from "./layouts.mjs";

const {
  quick,
  json,
  only,
  rows = quick ? 200_000 : 5_000_000,
} = readOptions("bench:far-future", {
  only: { value: "LIST", choices: ["run", "plain", "byDay", "byMonth"], doc: "these cases" },
  rows: { value: "COUNT", doc: "jobs of each layout, 5 million by default" },
});
const size = { rows, moves: rows / (quick ? 5 : 10), rounds: quick ? 4 : 8 };

const cases = {
  run: (site) => bytesInRun(site, { rows: Math.min(size.rows, 1_000_000) }),
  plain: (site) => layoutCase(site, { layout: layouts.plain, ...size }),
  byDay: (site) => layoutCase(site, { layout: layouts.byDay, ...size }),
  byMonth: (site) => layoutCase(site, { layout: layouts.byMonth, ...size }),
};
const wanted = only ?? Object.keys(cases);

const site = await BenchPostgres.start();
const results = [];
let failed = false;
try {
  for (const name of wanted) {
    say(`case ${name}`);
    results.push(...(await cases[name](site)));
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
