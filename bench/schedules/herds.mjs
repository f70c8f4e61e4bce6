// A herd is a group of jobs that are due in the same second. Waits for herds, and reads their rows afterwards.
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../report.mjs";

export const until = (instant) => sleep(Math.max(0, instant - Date.now()));

/** The second of the minute at which the first herd can be due after everything is prepared. */
export function secondAfter(prepareMs) {
  return Math.ceil((Date.now() + prepareMs) / 1_000) % 60;
}

/** The next due time of the herd that is at least `marginMs` away. */
export function nextHerd({ second, everySeconds }, marginMs) {
  const period = everySeconds * 1_000;
  const phase = (second % everySeconds) * 1_000;
  return Math.ceil((Date.now() + marginMs - phase) / period) * period + phase;
}

/** Waits until this many more runs than before are inserted; gives up when the number stops growing. */
export async function untilInserted(reader, before, count, maxQuietMs = 20_000) {
  let last = -1;
  let lastChange = Date.now();
  for (;;) {
    const inserted = (await runsInserted(reader)) - before;
    if (inserted >= count) return;
    if (inserted !== last) [last, lastChange] = [inserted, Date.now()];
    if (Date.now() - lastChange > maxQuietMs) return say(`only ${inserted} of ${count} runs were inserted`);
    await sleep(500);
  }
}

const lateness = `
  select count(*)::int as count, count(distinct job_id)::int as jobs,
         percentile_disc(array[0.5, 0.99]) within group (order by late) as quantiles, max(late) as max,
         percentile_disc(0.99) within group (order by visible) as visible99, max(visible) as visible_max
  from (
    select job_id, extract(epoch from created_at - run_at)::float8 * 1000 as late,
           extract(epoch from pg_xact_commit_timestamp(xmin) - run_at)::float8 * 1000 as visible
    from carillon.run where nominal_at between $1 and $2 and priority between $3 and $4
  ) as r`;

/** Lateness in ms of the runs with a nominal time in the range: until the row was written, and until it was visible. */
export async function readLateness(reader, { from, to = from, minPriority = 0, maxPriority = 9 }) {
  const range = [new Date(from), new Date(to), minPriority, maxPriority];
  const { rows } = await reader.query(lateness, range);
  const { count, jobs, quantiles, max, visible99, visible_max: visibleMax } = rows[0];
  return {
    count,
    jobs,
    p50: quantiles?.[0] ?? NaN,
    p99: quantiles?.[1] ?? NaN,
    max: max ?? NaN,
    visible99,
    visibleMax,
  };
}

/** Counts duplicate runs of the herd, jobs of the herd without a run, and skipped occurrences in the ledger. */
export async function verifyHerd(reader, nominal, cron) {
  const duplicates = await reader.query(
    `select count(*)::int as count from (
       select 1 from carillon.run where nominal_at = $1 group by job_id, nominal_at having count(*) > 1) as d`,
    [new Date(nominal)],
  );
  const missed = await reader.query(
    `select count(*)::int as count from carillon.job j
     where j.schedule->>'cron' = $2 and not exists (select 1 from carillon.run r where r.job_id = j.id and r.nominal_at = $1)`,
    [new Date(nominal), cron],
  );
  const ledger = await reader.query("select coalesce(sum(count), 0)::int as count from carillon.occurrence");
  return { duplicates: duplicates.rows[0].count, missed: missed.rows[0].count, ledger: ledger.rows[0].count };
}

/** Number of inserted runs from the statistics, which are free to read and about a second old. */
export async function runsInserted(reader) {
  const { rows } = await reader.query(
    "select n_tup_ins::int as count from pg_stat_user_tables where schemaname = 'carillon' and relname = 'run'",
  );
  return rows[0]?.count ?? 0;
}

/** Removes the runs as workers would end them, so that none overlaps the next occurrence of its job. */
export async function removeRuns(reader) {
  await reader.query("delete from carillon.run");
}

/** How many runs of the herd have ended, and how late their handlers started, from history. */
export async function handlerStarts(reader, nominal) {
  const { rows } = await reader.query(
    `select count(*)::int as count, count(distinct job_id)::int as jobs,
            percentile_disc(array[0.5, 0.99, 1]) within group (order by late) as quantiles
     from (
       select job_id, extract(epoch from started_at - run_at)::float8 * 1000 as late
       from carillon.run_history where nominal_at = $1 and status = 'succeeded'
     ) as r`,
    [new Date(nominal)],
  );
  const { count, jobs, quantiles } = rows[0];
  return { count, jobs, p50: quantiles?.[0] ?? NaN, p99: quantiles?.[1] ?? NaN, max: quantiles?.[2] ?? NaN };
}
