-- Records of jobs are kept as long as the history of their runs. A node scans each table a batch at a time, in the order of its primary
-- key: no index exists for the deletion, and a locked row is left to the next pass.

-- name: job_retention.delete_occurrences
-- purpose: deletes old entries of the ledger, except for the range that still grows. Returns the key of the last scanned entry, and how
--   many were scanned and deleted
-- fence: the time on the locked row: an entry that has grown stays
with scanned as materialized (
  select job_id, from_at, version, reason, row_number() over (order by job_id, from_at, version, reason) as position
  from (
    select job_id, from_at, version, reason
    from carillon.occurrence
    where (job_id, from_at, version, reason)
      > (:after_job_id::uuid, :after_from::timestamptz, :after_version::int, :after_reason::text)
    order by job_id, from_at, version, reason
    limit :limit
  ) as batch
), locked as materialized (
  select entry.job_id, entry.from_at, entry.version, entry.reason
  from scanned
  join carillon.occurrence as entry
    on entry.job_id = any (array[scanned.job_id])
    and (entry.from_at, entry.version, entry.reason) = (scanned.from_at, scanned.version, scanned.reason)
  where entry.recorded_at < :recorded_before::timestamptz
    and not exists (
      select from carillon.job_due as due
      where due.job_id = any (array[entry.job_id]) and due.ledger_from = entry.from_at and due.ledger_reason = entry.reason
    )
  for update of entry skip locked
), deleted as (
  delete from carillon.occurrence as entry using locked
  where entry.job_id = any (array[locked.job_id])
    and (entry.from_at, entry.version, entry.reason) = (locked.from_at, locked.version, locked.reason)
  returning entry.job_id
)
select job_id, from_at, version, reason, position as scanned, (select count(*) from deleted) as deleted
from scanned
order by position desc
limit 1;

-- name: job_retention.delete_jobs
-- purpose: deletes ended jobs with their records: cancelled ones, and completed ones without a key. A completed job with a key stays,
--   because a caller that puts the same definition again must find that it has run. Returns the last scanned job, and how many were
--   scanned and deleted
-- fence: state and version on the locked row; a transaction that changes the job or makes a run of it holds the same row
with scanned as materialized (
  select job_id from carillon.job_due where job_id > :after_job_id order by job_id limit :limit
), locked as materialized (
  select due.job_id
  from scanned
  join carillon.job_due as due on due.job_id = any (array[scanned.job_id])
  join carillon.job on job.id = any (array[due.job_id]) and job.version = due.version
  where (due.state = 'cancelled' or due.state = 'completed' and job.key is null)
    and greatest(job.updated_at, due.fired_through) < :ended_before::timestamptz
    and coalesce(due.run_ids[cardinality(due.run_ids)] < :lowest_kept_run_id::uuid, true)
    and (select run.id from carillon.run where run.id = any (due.run_ids) limit 1) is null
    and (select run.id from carillon.run where run.untracked and run.job_id = due.job_id limit 1) is null
    and not exists (select from carillon.dependency where dependency.upstream_id = any (array[due.job_id]))
    and not exists (
      select from carillon.backfill where backfill.job_id = any (array[due.job_id]) and backfill.state = 'running'
    )
  order by scanned.job_id
  for update of due skip locked
), ledger as (
  delete from carillon.occurrence using locked where occurrence.job_id = any (array[locked.job_id])
), versions as (
  delete from carillon.job_version using locked where job_version.job_id = any (array[locked.job_id])
), calendars as (
  delete from carillon.job_calendar using locked where job_calendar.job_id = any (array[locked.job_id])
), backfills as (
  delete from carillon.backfill using locked where backfill.job_id = any (array[locked.job_id])
), dependencies as (
  delete from carillon.dependency using locked where dependency.job_id = any (array[locked.job_id])
), upstream_ends as (
  delete from carillon.dependency_event using locked where dependency_event.job_id = any (array[locked.job_id])
), due_states as (
  delete from carillon.job_due using locked where job_due.job_id = any (array[locked.job_id])
), deleted as (
  delete from carillon.job using locked where job.id = any (array[locked.job_id]) returning job.id
)
select max(job_id::text) as job_id, count(*) as scanned, (select count(*) from deleted) as deleted from scanned;

-- name: job_retention.delete_backfills
-- purpose: deletes backfills that ended long ago
-- fence: state and time on the locked row
with locked as materialized (
  select id from carillon.backfill
  where state <> 'running' and finished_at < :ended_before::timestamptz
  order by id
  limit :limit
  for update skip locked
)
delete from carillon.backfill using locked where backfill.id = locked.id;
