// What the rows say, read after the fact by somebody who had no part in writing them.

const lateness = `
  select count(*)::int as count, count(distinct job_id)::int as jobs,
         percentile_disc(array[0.5, 0.99]) within group (order by late) as quantiles, max(late) as most,
         percentile_disc(0.99) within group (order by seen) as seen99, max(seen) as seen_most
  from (
    select job_id, extract(epoch from created_at - run_at)::float8 * 1000 as late,
           extract(epoch from pg_xact_commit_timestamp(xmin) - run_at)::float8 * 1000 as seen
    from carillon.run where nominal_at between $1 and $2 and priority between $3 and $4
  ) as r`;

/** Lateness in ms of the runs with a nominal instant in the range: of the row's writing, and of its being seen. */
export async function latenessOf(reader, { from, to = from, leastPriority = 0, mostPriority = 9 }) {
  const range = [new Date(from), new Date(to), leastPriority, mostPriority];
  const { rows } = await reader.query(lateness, range);
  const { count, jobs, quantiles, most, seen99, seen_most: seenMost } = rows[0];
  return { count, jobs, p50: quantiles?.[0] ?? NaN, p99: quantiles?.[1] ?? NaN, max: most ?? NaN, seen99, seenMost };
}

/** Job and nominal instant pairs that are there more than once, and jobs of the herd that have no run of the instant. */
export async function judgeHerd(reader, nominal, cron) {
  const doubles = await reader.query(
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
  return { doubles: doubles.rows[0].count, missed: missed.rows[0].count, ledger: ledger.rows[0].count };
}

/** Runs that were inserted so far, from the statistics: a second old, and free. */
export async function runsInserted(reader) {
  const { rows } = await reader.query(
    "select n_tup_ins::int as count from pg_stat_user_tables where schemaname = 'carillon' and relname = 'run'",
  );
  return rows[0]?.count ?? 0;
}

/** Does what workers would: ends the runs, so that none overlaps the next occurrence of its job. */
export async function finishRuns(reader) {
  await reader.query("delete from carillon.run");
}

/** How many runs of the instant ended, and how late their handlers started, as history tells. */
export async function startsOf(reader, nominal) {
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
