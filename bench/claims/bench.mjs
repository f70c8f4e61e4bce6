// Cost of a run from its claim to its history row, of the statement alone: `npm run bench:claims [-- --rows 200000] [-- --json]`.
// Measures Carillon's table and statement on an embedded PostgreSQL with fsync and synchronous commits on, and other layouts of the
// table (docs/adr/0011). Takes less than 10 s per layout.
import { describeMachine, printTable, readOptions, result, say } from "../report.mjs";
import { BenchPostgres } from "../bench-postgres.mjs";
import { measureStatement } from "./measure.mjs";

const { json, rows = 200_000 } = readOptions("bench:claims", {
  rows: { value: "COUNT", doc: "runs in the table, 200,000 by default" },
});

const byState = [
  "drop index carillon.run_claim",
  "drop index carillon.run_due",
  "drop index carillon.run_blocked",
  "alter table carillon.run set (fillfactor = 90)",
  "create index run_claim on carillon.run (lane, namespace_id, rank) where state = 'queued'",
  "create index run_due on carillon.run (shard, run_at) where state in ('scheduled', 'retrying')",
  "create index run_blocked on carillon.run (shard, id) where state = 'blocked'",
];

/** Throws if the text to replace is missing. */
function replaced(text, ...pairs) {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`run.complete_and_claim does not contain: ${from}`);
    return changed.replace(from, to);
  }, text);
}

const claimsByState = (text) => replaced(text, ["run.stage = 1 and run.state = 'queued'", "run.state = 'queued'"]);
const joinedById = (text) =>
  replaced(
    text,
    ["select queued.ctid as row_place, queued.id,", "select queued.id as row_place, queued.id,"],
    ["select run.ctid, run.id,", "select run.id,"],
    ["run.ctid = assigned.row_place", "run.id = assigned.row_place"],
  );

/** Layouts of the table of live runs. Each changes the migrated schema, and the statement where necessary. */
const layouts = [
  { name: "by state, joined by id", changes: byState, statement: (text) => joinedById(claimsByState(text)) },
  { name: "by state", changes: byState, statement: claimsByState },
  {
    name: "by state, and running by session",
    changes: [...byState, "create index on carillon.run ((session_id::text)) where state = 'running'"],
    statement: claimsByState,
  },
  {
    name: "by stage, a third of a page free",
    changes: ["alter table carillon.run set (fillfactor = 65)"],
    statement: (text) => text,
  },
  { name: "by stage, half a page free (current)", changes: [], statement: (text) => text },
];

async function measure(postgres, layout) {
  const { rate, cpuUs } = await measureStatement(postgres, { rows, layout });
  say(`${layout.name}: ${Math.round(rate)} runs/s, ${cpuUs.toFixed(1)} µs of PostgreSQL`);
  return [
    result({ name: layout.name, metric: "rate", unit: "runs/s", ours: rate }),
    result({ name: layout.name, metric: "CPU time of PostgreSQL", unit: "µs/run", ours: cpuUs }),
  ];
}

const postgres = await BenchPostgres.start();
const results = [];
try {
  for (const layout of layouts) results.push(...(await measure(postgres, layout)));
} finally {
  await postgres.stop();
}
const report = { machine: describeMachine(), results };
if (json) console.log(JSON.stringify(report));
else printTable(report);
