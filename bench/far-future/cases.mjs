// What one-off jobs cost: their bytes, their way in and out, and what the hot path feels of them.
import { Client } from "pg";
import { loadStatements, migrate, openDatabase } from "../../packages/engine/dist/index.js";
import { systemClock, systemRandom, systemTimers } from "../../packages/core/dist/index.js";
import { median, result, say } from "../report.mjs";
import { fill, sizeOf, yearMs } from "./fill.mjs";
import { layouts } from "./layouts.mjs";
import { take } from "./stopwatch.mjs";
import { drain, farAway, insert, promote, scanMs, now, readTimes, takeShards } from "./traffic.mjs";

const hundredMillion = 100_000_000;
const statements = loadStatements("carillon");
const completeAndClaim = statements.get("run.complete_and_claim").text;

async function makeSchema(url, client, layout) {
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const database = await openDatabase({ url, schema: "carillon", ...ports });
  await migrate(database);
  await database.close();
  // Vacuums run only where they are measured.
  await client.query("alter system set autovacuum = off");
  await client.query("select pg_reload_conf()");
  await client.query("insert into carillon.lane (queue, task) values ('default', 'send_email')");
  await client.query("create table carillon.run_history_all partition of carillon.run_history default");
  await takeShards(client);
  // Planning for every partition at every call would cost more than all the rest; the same for all, to be fair.
  await client.query("set plan_cache_mode = force_generic_plan");
  await layout.prepare(client);
}

/** The bytes of rows that are far from their time and lie in the hot table. */
export async function bytesInRun(site, { rows }) {
  return site.withDatabase(async ({ url, reader }) => {
    await makeSchema(url, reader, layouts.plain);
    await fill(url, "run", rows);
    const size = await sizeOf(reader, "run");
    return [
      result({ name: "in run", metric: "bytes of a one-off job", unit: "bytes", ours: size.all / rows }),
      result({ name: "in run", metric: "of these, indexes", unit: "bytes", ours: size.indexes / rows }),
    ];
  });
}

/** One layout with many rows: bytes, reads, inserts, promotions, scans, vacuum. */
export async function layoutCase(site, { layout, rows, moves, rounds }) {
  return site.withDatabase(async ({ url, reader }) => {
    await makeSchema(url, reader, layout);
    await fill(url, "far_future_run", rows);
    await reader.query("vacuum analyze carillon.far_future_run");
    await reader.query("checkpoint");
    const size = await sizeOf(reader, "far_future_run");
    say(`${layout.name}: ${rows} rows stored`);
    const name = layout.name;
    const line = (metric, unit, ours, floor = null) => cost({ name, metric, unit, ours, floor });
    const results = [
      line("bytes of a one-off job", "bytes", size.all / rows),
      line("of these, indexes", "bytes", size.indexes / rows),
      line("100 million of them", "GB", (size.all / rows) * (hundredMillion / 1e9)),
    ];
    const { findMs, listMs } = await readTimes(reader, layout, rows);
    results.push(line("find by id", "CPU µs", findMs * 1_000), line("first page of a list", "CPU ms", listMs));
    if (layout === layouts.plain) results.push(...(await hotPath(site, { full: reader, rounds })));
    results.push(...(await insertCase(reader, layout, { line, rounds })));
    results.push(...(await moveCase({ url, reader }, layout, { line, moves })));
    return results;
  });
}

async function insertCase(client, layout, { line, rounds }) {
  const sides = { far: farAway, near: now };
  const batches = { size: 1_000, batches: 10 };
  const start = await walPosition(client);
  await insert(client, layout, { ...batches, dueAt: farAway });
  const walBytes = (await walPosition(client)) - start;
  const taken = await inTurns(rounds, sides, (dueAt) => insert(client, layout, { ...batches, dueAt }));
  await client.query("truncate carillon.run");
  return [
    line("insert beyond the horizon", "rows/s", taken.far.perSecond),
    line("insert beyond the horizon: log written", "bytes/row", walBytes / (batches.size * batches.batches)),
    line("insert beyond the horizon, floor: one that is due", "CPU µs/row", taken.far.cpuUs, taken.near.cpuUs),
  ];
}

/** The same work beside an empty and beside a full far_future_run, turn by turn. */
async function hotPath(site, { full, rounds }) {
  return site.withDatabase(async ({ url, reader: empty }) => {
    await makeSchema(url, empty, layouts.plain);
    const works = {
      "insert of a single run": (client) => insert(client, layouts.plain, { size: 1, batches: 500, dueAt: now }),
      "insert of 1,000 runs": (client) => insert(client, layouts.plain, { size: 1_000, batches: 10, dueAt: now }),
      "claim and finish, 500 at a time": (client) => drain(client, layouts.plain, completeAndClaim, 10_000),
    };
    const results = [];
    for (const [metric, work] of Object.entries(works)) {
      const taken = await inTurns(rounds, { full, empty }, work);
      for (const client of [full, empty]) await client.query("truncate carillon.run, carillon.run_history");
      const line = (unit, ours, floor) => cost({ name: "hot path beside many", metric, unit, ours, floor });
      results.push(line("CPU µs/run", taken.full.cpuUs, taken.empty.cpuUs));
    }
    return results;
  });
}

/** Medians of what the work took on each side; the sides take turns, and who goes first changes. */
async function inTurns(rounds, sides, work) {
  const taken = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  let order = Object.entries(sides);
  for (let round = -1; round < rounds; round++) {
    order = order.toReversed();
    for (const [side, on] of order) {
      const one = await work(on);
      if (round >= 0) taken[side].push(one);
    }
  }
  const medians = (all) => ({
    perSecond: median(all.map((one) => one.perSecond)),
    cpuUs: median(all.map((one) => one.cpuUs)),
  });
  return Object.fromEntries(Object.entries(taken).map(([side, all]) => [side, medians(all)]));
}

/** Less is better: a ratio above 1 says that we take less than the floor. */
function cost({ floor = null, ...rest }) {
  return { ...result({ ...rest, floor }), ratio: floor === null ? null : floor / rest.ours };
}

/** Promotes a part and measures scans past the dead entries: while a snapshot is held, afterwards, and after a vacuum. */
async function moveCase({ url, reader }, layout, { line, moves }) {
  const holder = new Client({ connectionString: url });
  holder.on("error", () => {});
  await holder.connect();
  await holder.query("begin isolation level repeatable read");
  await holder.query("select from carillon.run limit 1");
  const before = await sizeOf(reader, "far_future_run");
  const start = await walPosition(reader);
  const { perSecond, cpuUs, moved, from, through } = await promote(reader, layout, moves);
  const walBytes = (await walPosition(reader)) - start;
  say(`${layout.name}: ${moved} rows moved`);
  const nothing = new Map();
  const until = Date.now() + 330_000;
  const far = Math.min(through, Date.now() + yearMs / 2);
  const scans = [
    line(
      "scan from where the promotions ended, snapshot held",
      "CPU ms",
      await scanMs(reader, layout, from, far + 1_000),
    ),
    line("full scan, snapshot held", "CPU ms", await scanMs(reader, layout, nothing, far)),
  ];
  await holder.end();
  // A snapshot is only forgotten when something was written since.
  await reader.query("update carillon.setting set value = value");
  const after = await scanMs(reader, layout, nothing, far);
  const vacuum = await take(reader, () => reader.query("vacuum (index_cleanup on) carillon.far_future_run"));
  scans.push(
    line("full scan, dead entries known to be dead", "CPU ms", after),
    line("full scan after a vacuum", "CPU ms", await scanMs(reader, layout, nothing, until)),
  );
  const results = [
    line("move", "rows/s", perSecond),
    line("move", "CPU µs/row", cpuUs),
    line("move: log written", "bytes/row", walBytes / moved),
    ...scans,
    line("vacuum after the moves", "CPU ms", vacuum.cpuMs),
  ];
  if (layout.drop !== null) {
    const drop = await take(reader, () => layout.drop(reader, far));
    results.push(line("drop of the emptied partitions", "CPU ms", drop.cpuMs));
  }
  const emptied = await sizeOf(reader, "far_future_run");
  await fill(url, "far_future_run", moved, far);
  const refilled = await sizeOf(reader, "far_future_run");
  results.push(
    line("size after the moves", "ratio to before", emptied.all / before.all),
    line("size when as many were stored again", "ratio to before", refilled.all / before.all),
  );
  return results;
}

async function walPosition(client) {
  const { rows } = await client.query("select (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 as bytes");
  return rows[0].bytes;
}
