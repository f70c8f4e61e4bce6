-- What is on record about jobs goes with the history of their runs. Each statement goes round its table some rows at a time, by the
-- primary key: no index is kept for it, and what is locked is left for the next round.

-- name: retention.ledger
-- purpose: removes old entries of the ledger; the range that is still growing stays. Answers where to go on, how many were looked at and
--   how many went
-- params: $1 after job id uuid, $2 from timestamptz, $3 version int and $4 reason text of the last one that was looked at,
--         $5 recorded before timestamptz, $6 limit int
-- fence: the time on the locked row: an entry that grows meanwhile stays
with part as materialized (
  select job_id, from_at, version, reason, row_number() over (order by job_id, from_at, version, reason) as place
  from (
    select job_id, from_at, version, reason
    from carillon.occurrence
    where (job_id, from_at, version, reason) > ($1::uuid, $2::timestamptz, $3::int, $4::text)
    order by job_id, from_at, version, reason
    limit $6
  ) next
), pick as materialized (
  select o.job_id, o.from_at, o.version, o.reason
  from part p
  join carillon.occurrence o
    on o.job_id = any (array[p.job_id]) and (o.from_at, o.version, o.reason) = (p.from_at, p.version, p.reason)
  where o.recorded_at < $5::timestamptz
    and not exists (
      select from carillon.job_due d
      where d.job_id = any (array[o.job_id]) and d.ledger_from = o.from_at and d.ledger_reason = o.reason
    )
  for update of o skip locked
), gone as (
  delete from carillon.occurrence o using pick p
  where o.job_id = any (array[p.job_id]) and (o.from_at, o.version, o.reason) = (p.from_at, p.version, p.reason)
  returning o.job_id
)
select p.job_id, p.from_at, p.version, p.reason, p.place as seen, (select count(*) from gone) as gone
from part p
order by p.place desc
limit 1;

-- name: retention.jobs
-- purpose: removes jobs that are over and what is on record about them: cancelled ones, and completed ones that have no key. One with a
--   key stays: who says the same definition again must find that it has run. Answers where to go on, how many were looked at and how
--   many went
-- params: $1 after job id uuid, $2 over before timestamptz, $3 below every run id since then uuid, $4 limit int
-- fence: state and version on the locked row; whoever changes the job or makes a run of it holds that row
with part as materialized (
  select job_id from carillon.job_due where job_id > $1 order by job_id limit $4
), pick as materialized (
  select d.job_id
  from part p
  join carillon.job_due d on d.job_id = any (array[p.job_id])
  join carillon.job j on j.id = any (array[d.job_id]) and j.version = d.version
  where (d.state = 'cancelled' or d.state = 'completed' and j.key is null)
    and greatest(j.updated_at, d.fired_through) < $2::timestamptz
    and coalesce(d.run_ids[cardinality(d.run_ids)] < $3::uuid, true)
    and (select r.id from carillon.run r where r.id = any (d.run_ids) limit 1) is null
    and (select r.id from carillon.run r where r.untracked and r.job_id = d.job_id limit 1) is null
    and not exists (select from carillon.dependency u where u.upstream_id = any (array[d.job_id]))
    and not exists (select from carillon.backfill b where b.job_id = any (array[d.job_id]) and b.state = 'running')
  order by p.job_id
  for update of d skip locked
), ledger as (
  delete from carillon.occurrence using pick where occurrence.job_id = any (array[pick.job_id])
), versions as (
  delete from carillon.job_version using pick where job_version.job_id = any (array[pick.job_id])
), calendars as (
  delete from carillon.job_calendar using pick where job_calendar.job_id = any (array[pick.job_id])
), backfills as (
  delete from carillon.backfill using pick where backfill.job_id = any (array[pick.job_id])
), upstream as (
  delete from carillon.dependency using pick where dependency.job_id = any (array[pick.job_id])
), untold as (
  delete from carillon.dependency_event using pick where dependency_event.job_id = any (array[pick.job_id])
), due as (
  delete from carillon.job_due using pick where job_due.job_id = any (array[pick.job_id])
), gone as (
  delete from carillon.job using pick where job.id = any (array[pick.job_id]) returning job.id
)
select max(p.job_id::text) as job_id, count(*) as seen, (select count(*) from gone) as gone from part p;

-- name: retention.backfills
-- purpose: removes backfills that ended long ago
-- params: $1 ended before timestamptz, $2 limit int
-- fence: state and time on the locked row
with pick as materialized (
  select id from carillon.backfill
  where state <> 'running' and finished_at < $1::timestamptz
  order by id
  limit $2
  for update skip locked
)
delete from carillon.backfill b using pick where b.id = pick.id;
