-- name: record.keep_checkpoints
-- purpose: stores the checkpoints of runs; the one that was saved last stays. Returns the runs that the sessions still hold
-- fence: (id, fence, session) on a running row, under a share lock: a statement that takes the run away waits, or comes first
with held as materialized (
  select run.id, run.namespace_id, run.fence, input.number, input.value
  from carillon.run
  join unnest(:session_ids::uuid[], :run_ids::uuid[], :fences::bigint[], :numbers::bigint[], :values::text[])
    as input (session_id, id, fence, number, value) on run.id = any (array[input.id])
  where run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  order by input.id
  for share of run
), stored as (
  insert into carillon.run_progress (run_id, namespace_id, checkpoint, checkpoint_fence, checkpoint_number, checkpoint_at)
  select id, namespace_id, value::json, fence, number, clock_timestamp() from held
  on conflict (run_id) do update
  set checkpoint = excluded.checkpoint, checkpoint_fence = excluded.checkpoint_fence,
      checkpoint_number = excluded.checkpoint_number, checkpoint_at = excluded.checkpoint_at
  where (run_progress.checkpoint_fence, run_progress.checkpoint_number) < (excluded.checkpoint_fence, excluded.checkpoint_number)
)
select id from held;

-- name: record.keep_progress
-- purpose: stores the latest progress of runs. Returns the runs that the sessions still hold
-- fence: (id, fence, session) on a running row, without a lock: an outdated figure is replaced by the next
with held as materialized (
  select run.id, run.namespace_id, run.fence, input.number, input.fraction, input.text
  from carillon.run
  join unnest(:session_ids::uuid[], :run_ids::uuid[], :fences::bigint[], :numbers::bigint[], :fractions::real[], :texts::text[])
    as input (session_id, id, fence, number, fraction, text) on run.id = any (array[input.id])
  where run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  order by input.id
), stored as (
  insert into carillon.run_progress (run_id, namespace_id, progress, progress_text, progress_fence, progress_number, progress_at)
  select id, namespace_id, fraction, text, fence, number, clock_timestamp() from held
  on conflict (run_id) do update
  set progress = excluded.progress, progress_text = excluded.progress_text, progress_fence = excluded.progress_fence,
      progress_number = excluded.progress_number, progress_at = excluded.progress_at
  where (run_progress.progress_fence, run_progress.progress_number) < (excluded.progress_fence, excluded.progress_number)
)
select id from held;

-- name: record.keep_steps
-- purpose: stores the results of steps; the first result of a step stays. Returns the runs that the sessions still hold
-- fence: (id, fence, session) on a running row, under a share lock: a statement that takes the run away waits, or comes first
with held as materialized (
  select run.id, run.namespace_id, run.fence, input.name, input.value
  from carillon.run
  join unnest(:session_ids::uuid[], :run_ids::uuid[], :fences::bigint[], :names::text[], :values::text[])
    as input (session_id, id, fence, name, value) on run.id = any (array[input.id])
  where run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  order by input.id
  for share of run
), stored as (
  insert into carillon.run_step (run_id, name, namespace_id, fence, result, created_at)
  select id, name, namespace_id, fence, value::json, clock_timestamp() from held
  on conflict (run_id, name) do nothing
)
select id from held;

-- name: record.log
-- purpose: appends log lines. Returns the runs that the sessions still hold
-- fence: (id, fence, session) on a running row, without a lock: a line describes its own attempt
with stored as (
  insert into carillon.run_log (run_id, fence, number, namespace_id, logged_at, level, message, fields)
  select run.id, run.fence, input.number, run.namespace_id,
         clock_timestamp() - least(input.ago_ms, 86400000) * interval '1 millisecond', input.level, input.message, input.fields::json
  from unnest(:session_ids::uuid[], :run_ids::uuid[], :fences::bigint[], :numbers::int[], :levels::text[], :messages::text[],
              :fields::text[], :ago_ms::bigint[])
    as input (session_id, id, fence, number, level, message, fields, ago_ms)
  join carillon.run on run.id = any (array[input.id])
  where run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  returning run_id
)
select distinct run_id as id from stored;

-- name: record.checkpoints
-- purpose: the checkpoints from which runs continue
-- fence: none, a read
select run_id as id, checkpoint::text as value, checkpoint_at as at
from carillon.run_progress
where run_id = any (:run_ids::uuid[]) and checkpoint is not null;

-- name: record.progress
-- purpose: the progress of runs, for readers
-- fence: none, a read
select run_id as id, progress as fraction, progress_text as text, progress_at as at
from carillon.run_progress
where run_id = any (:run_ids::uuid[]) and progress is not null;

-- name: record.steps
-- purpose: the results of steps
-- fence: none, a read
select step.run_id as id, step.name, step.result::text as value, step.created_at as at
from unnest(:run_ids::uuid[], :names::text[]) as input (run_id, name)
join carillon.run_step step on step.run_id = any (array[input.run_id]) and step.name = input.name;

-- name: record.begin_once
-- purpose: begins an action that is to be done once; returns nothing if it was done or another run is doing it
-- fence: (id, fence, session) on a running row, under a share lock; the key is unique, and an action that an attempt began is taken
--   over only when its claim is over
with held as materialized (
  select id, namespace_id, fence
  from carillon.run
  where id = :run_id and fence = :fence and session_id = :session_id and state = 'running'
  for share
)
insert into carillon.once (namespace_id, key, run_id, fence, begun_at, expires_at)
select namespace_id, :key, id, fence, clock_timestamp(), clock_timestamp() + :kept_ms::bigint * interval '1 millisecond' from held
on conflict (namespace_id, key) do update
set run_id = excluded.run_id, fence = excluded.fence, result = null, begun_at = excluded.begun_at, ended_at = null,
    expires_at = excluded.expires_at
where once.expires_at <= clock_timestamp() or once.result is null and (
  (once.run_id, once.fence) = (excluded.run_id, excluded.fence)
  or not exists (
    select from carillon.run where run.id = any (array[once.run_id]) and run.fence = once.fence and run.state = 'running'
  )
)
returning once.key;

-- name: record.find_once
-- purpose: the result of an action that was done once; null while a run is doing it
-- fence: none, a read
select result::text as value, ended_at as at
from carillon.once
where namespace_id = :namespace_id and key = :key and expires_at > clock_timestamp();

-- name: record.end_once
-- purpose: stores the result of an action that was done once, even if the run was lost since: it was done, and no other run has
--   begun it
-- fence: the row names this attempt
update carillon.once
set result = :value::json, ended_at = clock_timestamp()
where namespace_id = :namespace_id and key = :key and run_id = :run_id and fence = :fence
returning key;

-- name: record.lines
-- purpose: a keyset page of the log lines of a run, in the order in which it wrote them
-- fence: none, a read
select distinct on (fence, number) fence, number, logged_at, level, message, fields
from carillon.run_log
where run_id = :run_id and namespace_id = :namespace_id and (fence, number) > (:after_fence::bigint, :after_number::int)
  and logged_at >= :not_before and level = any (:levels::text[])
order by fence, number
limit :limit;

-- name: record.sweep_states
-- purpose: deletes the checkpoints and progress of runs that have ended, some rows at a time. Returns where to continue, and how
--   many rows were read and deleted
-- fence: none: a run that has ended never comes back, and a write of its state needs its row
with page as materialized (
  select run_id from carillon.run_progress where run_id > :after order by run_id limit :limit
), deleted as (
  delete from carillon.run_progress using page
  where run_progress.run_id = any (array[page.run_id])
    and not exists (select from carillon.run where run.id = any (array[page.run_id]))
  returning run_progress.run_id
)
select (select max(run_id::text) from page) as last, (select count(*) from page) as seen, (select count(*) from deleted) as deleted;

-- name: record.sweep_steps
-- purpose: as record.sweep_states, for steps
-- fence: none: a run that has ended never comes back, and a write of its steps needs its row
with page as materialized (
  select distinct run_id from carillon.run_step where run_id > :after order by run_id limit :limit
), deleted as (
  delete from carillon.run_step using page
  where run_step.run_id = any (array[page.run_id])
    and not exists (select from carillon.run where run.id = any (array[page.run_id]))
  returning run_step.run_id
)
select (select max(run_id::text) from page) as last, (select count(*) from page) as seen, (select count(*) from deleted) as deleted;

-- name: record.sweep_onces
-- purpose: deletes results that have expired
-- fence: the time is compared on the row
delete from carillon.once
using (
  select namespace_id, key from carillon.once where expires_at <= statement_timestamp() order by expires_at limit :limit
) expired
where once.namespace_id = any (array[expired.namespace_id]) and once.key = expired.key and once.expires_at <= clock_timestamp();
