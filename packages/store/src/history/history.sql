-- part: history.columns
-- purpose: a finished run as lists and reads of runs return it
id, job_id, task, queue, priority, status, status_reason, trigger, nominal_at, run_at, created_at, started_at, finished_at,
attempt, losses, fence, session_id, payload, policy, output, error, attempts, labels, owner, null::timestamptz as deadline_at

-- part: history.of_job
-- purpose: the finished runs of a job. The job's index leaves out the run that has the job's id
select * from carillon.run_history where job_id = :job_id and job_id <> id
union all
select * from carillon.run_history where job_id = :job_id and id = :job_id

-- name: history.find
-- purpose: finished runs by id, among those that ended within some days
-- fence: none, a read
select
  --+ history.columns
from carillon.run_history
where namespace_id = :namespace_id and id = any (:ids::uuid[]) and finished_at >= :ended_from and finished_at < :ended_before;

-- name: history.list
-- purpose: a keyset page of the runs that ended within some days, among the first `max_scanned` that one index gives in the list's
--   order; the rest of the filter is applied to those. `numbered`: the last scanned row is among the answers; to number many rows
--   costs several times as much as to read them, so `plain` is for filters that many rows match. `gathered`: no index finds the rows
--   by their ids. A line with a tag is used where its tag is chosen. Sent without a name, so that it is planned for its values
-- fence: none, a read
select
  --+ history.columns
  , is_match, number = :max_scanned as is_last
from unnest(:tasks::text[]) as wanted (name)
cross join lateral (
  select *
  from (
    select scanned.*, coalesce(
      namespace_id = :namespace_id and (not :one_off_only::boolean or job_id = id) and
      --+ run.conditions
      , false) as is_match
    from (
      select numbered.*, row_number() over in_order as number --? numbered
      select numbered.*, 0 as number --? plain
      from (
        select * from carillon.run_history --? any namespace task owner failed unrun asked labels
        select * from ( --? job
          select * from carillon.run_history where job_id = :job_id and job_id <> id --? job
          union all --? job
          select * from carillon.run_history where job_id = :job_id and id = :job_id --? job
        ) of_job --? job
        where finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
          and id < coalesce(:after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first_by_id
          and id >= coalesce(:until::uuid, '00000000-0000-0000-0000-000000000000') --? newest_first_by_id
          and id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') --? oldest_first_by_id
          and id <= coalesce(:until::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? oldest_first_by_id
          and coalesce(id < :after::uuid, true) and coalesce(id >= :until::uuid, true) --? newest_first_gathered
          and coalesce(id > :after::uuid, true) and coalesce(id <= :until::uuid, true) --? oldest_first_gathered
          and namespace_id = :namespace_id --? namespace task owner job failed unrun asked labels
          and task = wanted.name --? task
          and owner = :owner --? owner
          and status = 'failed' --? failed
          and status in ('cancelled', 'skipped') --? unrun
          and split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay') --? asked
          and labels @> :labels::jsonb --? labels
        order by id desc --? newest_first
        order by id --? oldest_first
        limit :max_scanned
      ) numbered
      window in_order as (order by id desc rows unbounded preceding) --? newest_first_numbered
      window in_order as (order by id rows unbounded preceding) --? oldest_first_numbered
    ) scanned
  ) matched
  where is_match or number = :max_scanned
  order by id desc --? newest_first
  order by id --? oldest_first
  limit :limit
) found
order by is_last desc, id desc --? newest_first
order by is_last desc, id --? oldest_first
limit :limit + cardinality(:tasks);

-- name: history.edge
-- purpose: where history.list stopped scanning among all rows; nothing if it read to the end
-- fence: none, a read
select id from carillon.run_history
where finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
  and id < coalesce(:after::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') --? newest_first
  and id > coalesce(:after::uuid, '00000000-0000-0000-0000-000000000000') --? oldest_first
order by id desc --? newest_first
order by id --? oldest_first
offset :max_scanned::int - 1
limit 1;

-- name: history.scanned
-- purpose: the rows of some days that one index gives for a filter. Only explained: by the planner's estimate the search chooses an
--   index
-- fence: none, a read
select :job_id::uuid, :owner::text, :labels::jsonb, :tasks::text[]
from carillon.run_history
where finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
  and task = any (:tasks::text[]) --? task
  and owner = :owner --? owner
  and job_id = :job_id and job_id <> id --? job
  and status = 'failed' --? failed
  and status in ('cancelled', 'skipped') --? unrun
  and split_part(trigger, ':', 1) in ('run_now', 'backfill', 'retry', 'replay') --? asked
  and labels @> :labels::jsonb --? labels
  and namespace_id = :namespace_id --? namespace task owner job failed unrun asked labels
  and :namespace_id::int is not null;

-- name: history.matches
-- purpose: the runs of a filter that ended within some days, up to a number: counted, or explained for an estimate
-- fence: none, a read
select id
from carillon.run_history
where namespace_id = :namespace_id and finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
  and (not :one_off_only::boolean or trigger = 'once') and
  --+ run.conditions
limit :max_count;

-- name: history.last_success
-- purpose: the newest run of a job that succeeded, among those that ended within some days
-- fence: none, a read
select id, finished_at as at, output::text as value
from (
  --+ history.of_job
) of_job
where namespace_id = :namespace_id and status = 'succeeded' and finished_at >= :ended_from::timestamptz
  and finished_at < :ended_before::timestamptz
  and id >= coalesce(:until::uuid, '00000000-0000-0000-0000-000000000000')
order by id desc
limit :limit;

-- name: history.ends_of_job
-- purpose: the ends of the newest runs of a job, among those that ended within some days
-- fence: none, a read
select id, status, attempt, finished_at as at, (extract(epoch from finished_at - started_at) * 1000)::float8 as duration_ms,
       greatest(extract(epoch from started_at - run_at) * 1000, 0)::float8 as lag_ms
from (
  --+ history.of_job
) of_job
where namespace_id = :namespace_id and finished_at >= :ended_from::timestamptz and finished_at < :ended_before::timestamptz
  and id >= coalesce(:until::uuid, '00000000-0000-0000-0000-000000000000')
order by id desc
limit :limit;

-- name: history.first_ids
-- purpose: the lowest id among the runs that ended on each of some days; days on which no run ended are missing in the answer
-- fence: none, a read
select wanted.day, lowest.id
from unnest(:days::timestamptz[]) as wanted (day)
cross join lateral (
  select id
  from carillon.run_history
  where finished_at >= :from::timestamptz and finished_at < :before::timestamptz
    and finished_at >= wanted.day and finished_at < wanted.day + interval '24 hours'
  order by id
  limit 1
) lowest;

-- name: history.partitions
-- purpose: the days of a table that have a partition
-- fence: none, a read
select day.relname as name
from pg_catalog.pg_inherits link
join pg_catalog.pg_class day on day.oid = link.inhrelid
join pg_catalog.pg_class parent on parent.oid = link.inhparent
join pg_catalog.pg_namespace schema on schema.oid = parent.relnamespace
where parent.relname = :table and schema.nspname = :schema
order by day.relname;

-- name: history.past_days
-- purpose: the days of a table before a day, attached or not: one that was detached and not dropped would block its name.
--   `first_kept_day` is the end of a partition's name
-- fence: none, a read
select day.relname as name, link.inhrelid is not null as attached, coalesce(link.inhdetachpending, false) as detaching
from pg_catalog.pg_class day
join pg_catalog.pg_namespace schema on schema.oid = day.relnamespace
left join pg_catalog.pg_inherits link on link.inhrelid = day.oid
where schema.nspname = :schema and day.relkind = 'r' and day.relname ~ ('^' || :table || '_[0-9]{8}$')
  and day.relname < :table || '_' || :first_kept_day
order by day.relname;

-- name: history.lock_days
-- purpose: lets one node at a time create days of history, until its transaction ends
-- fence: an advisory lock; it only avoids failed attempts, since the name of the table is unique
select pg_advisory_xact_lock(hashtextextended('carillon.history_days.' || :schema, 0));
