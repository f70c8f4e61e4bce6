// One-off jobs far from their time: `npm run bench:later [-- --quick] [-- --json] [-- --only run,plain,byDay,byMonth]`.
// The product's tables and statements on an embedded PostgreSQL with fsync and synchronous_commit on; run_later as it is
// beside the same partitioned by due day and by month. Where a line has a floor, it is the figure it is compared with, taken turn by turn.
// Without --quick 5 million rows are stored in each, which takes two or three minutes for each.
import { describeMachine, printTable } from "../report.mjs";
import { say } from "../schedules/results.mjs";
import { Site } from "../schedules/site.mjs";
import { bytesInRun, layoutCase } from "./cases.mjs";
import { layouts } from "./layouts.mjs";

const quick = process.argv.includes("--quick");
const json = process.argv.includes("--json");
const onlyAt = process.argv.indexOf("--only");
const size = quick ? { rows: 200_000, moves: 40_000, rounds: 4 } : { rows: 5_000_000, moves: 500_000, rounds: 8 };

const cases = {
  run: (site) => bytesInRun(site, { rows: Math.min(size.rows, 1_000_000) }),
  plain: (site) => layoutCase(site, { layout: layouts.plain, ...size }),
  byDay: (site) => layoutCase(site, { layout: layouts.byDay, ...size }),
  byMonth: (site) => layoutCase(site, { layout: layouts.byMonth, ...size }),
};
const wanted = onlyAt === -1 ? Object.keys(cases) : process.argv[onlyAt + 1].split(",");

const site = await Site.start();
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
