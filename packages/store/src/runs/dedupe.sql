-- Runs with a dedupe key. The row of the key decides: a run is stored only if its row was inserted, or taken over from the run that the
-- statement's snapshot saw there. A run that ended stays ended, so a take-over from it can rely on that snapshot. A run whose job was
-- changed before its time is made by that job, under the same id: until then the job holds the key in its place, and is cancelled if
-- the run is replaced.

-- part: dedupe.is_live
-- purpose: whether the run of the dedupe row has not ended: it waits near its time or far from it, is running, or its job has yet to
--   make it
exists (select from carillon.run where run.id = any (array[dedupe.run_id]))
or exists (select from carillon.far_future_run far where far.namespace_id = any (array[dedupe.namespace_id]) and far.id = dedupe.run_id)
or exists (
  select from carillon.job_due join carillon.job on job.id = any (array[job_due.job_id])
  where job_due.job_id = any (array[dedupe.run_id]) and job_due.runs_made = 0 and job_due.state in ('active', 'paused')
    and job.schedule ->> 'kind' = 'at'
)

-- name: dedupe.insert
-- purpose: stores runs whose key is free, or whose request replaces the holder; of the others it returns the holder. A replaced run
--   that no worker has ends as cancelled. No key may occur twice in a batch. `lock_timeout`, such as 200ms: how long to wait for a key
--   that an open transaction holds
-- fence: primary key of dedupe, in its order; a take-over compares the previous holder; a replaced run is not running, and is locked in
--   the order of ids
with timeout as materialized (
  select set_config('lock_timeout', :lock_timeout::text, true)
), input as materialized (
  select input.*,
         input.run_at > clock_timestamp() + :horizon_ms::bigint * interval '1 millisecond' as is_far_future,
         holder.run_id as holder_id, holder.is_in_force is true as is_taken
  from unnest(
    --+ run.new_arrays
    , :keys::text[], :actions::text[], :windows_ms::bigint[]
  ) as input (
    --+ run.new_columns
    , key, action, window_ms
  )
  cross join timeout
  left join lateral (
    select dedupe.run_id,
           --+ dedupe.is_live
             or dedupe.window_ms is not null and exists (
               select from carillon.run_history history
               where history.id = any (array[dedupe.run_id])
                 and history.finished_at > statement_timestamp() - dedupe.window_ms * interval '1 millisecond'
             ) as is_in_force
    from carillon.dedupe
    where dedupe.namespace_id = any (array[input.namespace_id]) and dedupe.task = input.task and dedupe.key = input.key
  ) holder on true
), won as (
  insert into carillon.dedupe (namespace_id, task, key, run_id, replaces, window_ms, created_at, check_at)
  select namespace_id, task, key, id, holder_id, window_ms, clock_timestamp(),
         greatest(run_at, clock_timestamp()) + interval '1 minute'
  from input
  where (not is_taken or action = 'replace') and holder_id is distinct from id
  order by namespace_id, task, key
  on conflict (namespace_id, task, key) do update
  set run_id = excluded.run_id, replaces = excluded.replaces, window_ms = excluded.window_ms,
      created_at = excluded.created_at, check_at = excluded.check_at
  where dedupe.run_id = excluded.replaces
  returning run_id, replaces, namespace_id
), replaced as materialized (
  select run.id from carillon.run
  where run.id = any (array(select replaces from won where replaces is not null)) and run.state <> 'running'
  order by run.id
  for update of run
), ended as (
  delete from carillon.run using replaced where run.id = any (array[replaced.id]) returning run.*
), replaced_far as materialized (
  select far.namespace_id, far.id
  from carillon.far_future_run far join won on far.namespace_id = any (array[won.namespace_id]) and far.id = won.replaces
  order by far.id
  for update of far
), ended_far as (
  delete from carillon.far_future_run far using replaced_far
  where far.namespace_id = any (array[replaced_far.namespace_id]) and far.id = replaced_far.id
  returning far.*
), ended_planned as materialized (
  select planned.*
  from (select namespace_id, array_agg(replaces) as ids from won where replaces is not null group by namespace_id) batch
  cross join lateral carillon.cancel_planned_runs(batch.namespace_id, batch.ids, 'cancelled_by_dedupe') planned
  where exists (select from input where is_taken and action = 'replace')
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error)
  select
    --+ run.archived_columns
    , 'cancelled', 'cancelled_by_dedupe', run_at, attempt, losses, started_at, clock_timestamp(), null::json, null::json
  from ended
  union all
  select
    --+ run.archived_far_columns
    , 'cancelled', 'cancelled_by_dedupe', far.run_at, 0, 0, null, clock_timestamp(), null, null
  from ended_far far join carillon.lane on lane.id = far.lane
), near as (
  --+ run.insert_near
  where not is_far_future and (id in (select run_id from won)) is true
  returning id, state, created_at
), far_future as (
  --+ run.insert_far
  where is_far_future and (id in (select run_id from won)) is true
  returning id, created_at
)
select id, state, created_at, null::uuid as holder_id, null::uuid as "jobId", null::int as "namespaceId", null::text as task,
       null::text as queue
from near
union all
select id, 'far_future', created_at, null, null, null, null, null from far_future
union all
select id, case when is_taken and action <> 'replace' or holder_id = id then 'held' else 'beaten' end, null, holder_id, null, null, null,
       null
from input where (id in (select run_id from won)) is not true
union all
select id, 'not_ended', null, holder_id, null, null, null, null
from input
where is_taken and (id in (select run_id from won)) is true
  and (holder_id in (select id from ended union all select id from ended_far union all select id from ended_planned)) is not true
union all
select id, 'ended', null, null, job_id, namespace_id, task, queue from ended
union all
select far.id, 'ended', null, null, far.id, far.namespace_id, lane.task, lane.queue
from ended_far far join carillon.lane on lane.id = far.lane
union all
select id, 'ended', null, null, id, namespace_id, task, queue from ended_planned;

-- name: dedupe.end_replaced
-- purpose: cancels runs that were replaced while they moved from one table to the other, or while their job was changed or made them,
--   unless a worker has them
-- fence: the row's lock, taken in the order of ids; a running run stays
with replaced as materialized (
  select run.id from carillon.run where run.id = any (:ids::uuid[]) and run.state <> 'running' order by run.id for update of run
), ended as (
  delete from carillon.run using replaced where run.id = any (array[replaced.id]) returning run.*
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error)
  select
    --+ run.archived_columns
    , 'cancelled', 'cancelled_by_dedupe', run_at, attempt, losses, started_at, clock_timestamp(), null, null
  from ended
)
select id from ended
union all
select planned.id
from (
  select namespace_id, array_agg(id) as ids from unnest(:ids::uuid[], :namespace_ids::int[]) as input (id, namespace_id)
  group by namespace_id
) batch
cross join lateral carillon.cancel_planned_runs(batch.namespace_id, batch.ids, 'cancelled_by_dedupe') planned;

-- name: dedupe.sweep
-- purpose: deletes rows whose run holds its key no longer; sets the next check of the others
-- fence: the run that the snapshot saw in the row; a row that was taken over meanwhile stays
with seen as materialized (
  select dedupe.namespace_id, dedupe.task, dedupe.key, dedupe.run_id, dedupe.created_at, run.is_live, ended.finished_at, dedupe.window_ms,
         run.is_live or dedupe.window_ms is not null
           and ended.finished_at > statement_timestamp() - dedupe.window_ms * interval '1 millisecond' as is_in_force
  from (select * from carillon.dedupe where check_at <= statement_timestamp() order by check_at limit :limit) dedupe
  cross join lateral (
    select
      --+ dedupe.is_live
      as is_live
  ) run
  left join lateral (
    select finished_at from carillon.run_history history
    where dedupe.window_ms is not null and not run.is_live and history.id = any (array[dedupe.run_id])
    limit 1
  ) ended on true
), deleted as (
  delete from carillon.dedupe using seen
  where dedupe.namespace_id = any (array[seen.namespace_id]) and dedupe.task = seen.task and dedupe.key = seen.key
    and dedupe.run_id = seen.run_id and seen.is_in_force is not true
  returning 1
), kept as (
  update carillon.dedupe
  set check_at = case
    when seen.is_live then clock_timestamp() + least(greatest(clock_timestamp() - seen.created_at, interval '1 minute'), interval '1 hour')
    else seen.finished_at + seen.window_ms * interval '1 millisecond'
  end
  from seen
  where dedupe.namespace_id = any (array[seen.namespace_id]) and dedupe.task = seen.task and dedupe.key = seen.key
    and dedupe.run_id = seen.run_id and seen.is_in_force
  returning 1
)
select (select count(*) from deleted) as gone, (select count(*) from kept) as kept;
