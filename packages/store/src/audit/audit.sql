-- Each statement belongs to an invariant of docs/invariants.md, which repeats its text, and returns the rows that break it.

-- name: audit.inv_1
-- purpose: at most one run per job, nominal instant and trigger
-- fence: none, a read
select job_id, nominal_at, trigger, count(*)
from (
  select job_id, nominal_at, trigger from carillon.run
  union all
  select job_id, nominal_at, trigger from carillon.run_history
) as every_run
where job_id is not null
group by job_id, nominal_at, trigger
having count(*) > 1
union all
select run.id, far_future_run.run_at, 'in run and in far_future_run', 2
from carillon.run join carillon.far_future_run using (namespace_id, id);

-- name: audit.inv_2
-- purpose: the tries of a run have growing fences
-- fence: none, a read
select id, fence, fence_before
from (
  select id, try.fence, try.is_recorded, lag(try.fence) over (partition by id order by try.place) as fence_before
  from (
    select id, attempts, fence from carillon.run
    union all
    select id, attempts, fence from carillon.run_history
  ) as every_run
  cross join lateral (
    select (one.value ->> 'fence')::bigint as fence, one.place, true as is_recorded
    from jsonb_array_elements(attempts) with ordinality as one (value, place)
    union all
    select every_run.fence, jsonb_array_length(attempts) + 1, false
  ) as try
  where attempts is not null
) as tries
where fence < fence_before or (fence = fence_before and is_recorded);

-- name: audit.inv_4
-- purpose: a run that ended stays as it ended
-- fence: none, a read
select id from carillon.run_history group by id having count(*) > 1
union all
select run.id from carillon.run join carillon.run_history using (id)
union all
select far_future_run.id from carillon.far_future_run join carillon.run_history using (namespace_id, id);

-- name: audit.inv_5
-- purpose: nothing starts before it is due by the database's clock
-- fence: none, a read
select id, run_at, started_at as seen_at from carillon.run_history where started_at < run_at
union all
select id, run_at, claimed_at from carillon.run where state = 'running' and claimed_at < run_at
union all
select id, nominal_at, created_at from carillon.run where trigger = 'schedule' and created_at < nominal_at
union all
select id, nominal_at, created_at from carillon.run_history where trigger = 'schedule' and created_at < nominal_at;

-- name: audit.inv_6
-- purpose: an accepted run ends, or a node moves it on
-- fence: none, a read
select id, state from carillon.run
where (
    state in ('scheduled', 'retrying') and run_at < now() - interval '5 minutes'
    or state = 'running' and claimed_at < now() - interval '5 minutes'
      and not exists (select from carillon.worker_session where worker_session.id = run.session_id)
  )
  and exists (select from carillon.node where heartbeat_at > now() - interval '1 minute')
union all
select late.id, 'late in far_future_run'
from carillon.shard
cross join lateral (
  select id from carillon.far_future_run
  where far_future_run.shard = shard.id and run_at < now() - interval '5 minutes'
    and exists (select from carillon.node where heartbeat_at > now() - interval '1 minute')
) as late;

-- name: audit.inv_7
-- purpose: no row crosses namespaces
-- fence: none, a read
select 'job_due' as place, job_due.job_id as id
from carillon.job_due join carillon.job on job.id = job_due.job_id and job.namespace_id <> job_due.namespace_id
union all
select 'run', run.id
from carillon.run join carillon.job on job.id = run.job_id and job.namespace_id <> run.namespace_id
union all
select 'run_history', run_history.id
from carillon.run_history join carillon.job on job.id = run_history.job_id and job.namespace_id <> run_history.namespace_id
union all
select 'occurrence', occurrence.job_id
from carillon.occurrence join carillon.job on job.id = occurrence.job_id and job.namespace_id <> occurrence.namespace_id
union all
select 'backfill', backfill.id
from carillon.backfill join carillon.job on job.id = backfill.job_id and job.namespace_id <> backfill.namespace_id
union all
select 'worker_session', run.id
from carillon.run join carillon.worker_session as s on s.id = run.session_id and s.namespace_id <> run.namespace_id;

-- name: audit.inv_8
-- purpose: runs of one ordering key never overlap
-- fence: none, a read
select split_part(limits, E'\n', 1) as gate, count(*)
from carillon.run
where limits like 'o:%' and state in ('queued', 'running')
group by split_part(limits, E'\n', 1)
having count(*) > 1;

-- name: audit.inv_11
-- purpose: every occurrence of an active schedule is a run or a ledger entry, as far back as history is kept
-- fence: none, a read
with kept as materialized (
  select min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp at time zone 'UTC' as since
  from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where c.relname ~ '^run_history_[0-9]{8}$'
)
select job_id, fired_through as instant from carillon.job_due
where fired_through >= coalesce((select since from kept), '-infinity')
  and not exists (select from carillon.run r where r.job_id = job_due.job_id and r.nominal_at = fired_through)
  and not exists (select from carillon.run_history h where h.job_id = job_due.job_id and h.nominal_at = fired_through)
  and not exists (
    select from carillon.occurrence o where o.job_id = job_due.job_id and fired_through between o.from_at and o.to_at
  )
union all
select job_id, next_nominal_at from carillon.job_due
where state = 'active' and next_fire_at < now() - interval '5 minutes'
  and exists (select from carillon.node where heartbeat_at > now() - interval '1 minute');

-- name: audit.inv_14
-- purpose: no limit is exceeded, and what nothing holds is freed
-- fence: none, a read
select 'counter' as what, limit_key.id::text as id, limit_key.used, holds.count
from carillon.limit_key
cross join lateral (select count(*) from carillon.limit_hold where limit_hold.limit_id = limit_key.id) as holds
where limit_key.used <> holds.count
union all
select 'holds nothing', run.id::text, null, null
from carillon.run
where run.state in ('queued', 'running') and run.limits ~ E'\n[co]\t'
  and not exists (select from carillon.limit_hold where limit_hold.run_id = run.id)
union all
select 'at work without its hold', run.id::text, limit_key.used, null
from carillon.limit_key
join carillon.run on run.namespace_id = limit_key.namespace_id and run.state = 'running'
join carillon.lane on lane.id = run.lane and lane.kind not in ('strict', 'strict_once')
where limit_key.kind = 'concurrency' and limit_key.is_counted
  and case limit_key.scope
    when 'queue' then run.queue = limit_key.name and exists (
      select from carillon.queue
      where queue.namespace_id = limit_key.namespace_id and queue.name = limit_key.name and queue.limits::jsonb ? 'concurrency'
    )
    when 'namespace' then exists (
      select from carillon.namespace where namespace.id = limit_key.namespace_id and namespace.limits::jsonb ? 'concurrency'
    )
    else false
  end
  and not exists (
    select from carillon.limit_hold where limit_hold.limit_id = limit_key.id and limit_hold.run_id = run.id
  )
union all
select 'held by nothing', limit_hold.run_id::text, limit_key.used, null
from carillon.limit_hold
join carillon.limit_key on limit_key.id = limit_hold.limit_id
where coalesce(limit_key.swept_at, limit_hold.admitted_at) < now() - interval '1 minute'
  and not exists (select from carillon.run where run.id = limit_hold.run_id)
  and exists (select from carillon.node where heartbeat_at > now() - interval '1 minute');
