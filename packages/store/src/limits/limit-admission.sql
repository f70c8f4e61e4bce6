-- The intake and admission of runs with limits. Such a run is queued in a lane from which no worker is served (gated), or in a queue that
-- has limits. Intake moves it behind its gate: it is blocked, with its limits recorded. An admission locks the rows of the limits, and
-- only later statements read their holds and the runs that wait. A hold is a row of limit_hold, and is in force for as long as the run's
-- own row says so: a run that has ended holds nothing, although its row of limit_hold may still be there.

-- name: limit.gates
-- purpose: a page of the gates behind which runs wait, in their order
-- fence: none: a hint, the admission reads again
with recursive waiting as (
  (
    select split_part(limits, E'\n', 1) as gate from carillon.run
    where stage = 3 and limits is not null and split_part(limits, E'\n', 1) > :after
    order by split_part(limits, E'\n', 1)
    limit 1
  )
  union all
  select (
    select split_part(run.limits, E'\n', 1) from carillon.run
    where run.stage = 3 and run.limits is not null and split_part(run.limits, E'\n', 1) > waiting.gate
    order by split_part(run.limits, E'\n', 1)
    limit 1
  )
  from waiting
  where waiting.gate is not null
)
select gate from waiting where gate is not null limit :limit;

-- part: limit.head_columns
-- purpose: a run that waits for limits (run), with the state of its queue and namespace that its admission reads
run.id, run.namespace_id, run.queue, run.rank, run.fence, run.lane, run.limits, run.created_at, queue.pause is not null as is_paused,
queue.limits as queue_limits, namespace.limits as namespace_limits

-- part: limit.first_by_order
-- purpose: of each gate of an ordering key, the first run by time
select waiting.* from unnest(:gates::text[]) as wanted (gate)
cross join lateral (
  select * from carillon.run
  where split_part(run.limits, E'\n', 1) = wanted.gate and run.stage = 3 and run.limits like 'o:%'
    and run.state_reason is distinct from 'overlap'
  order by run.nominal_at, run.id
  limit 1
) waiting
where wanted.gate like 'o:%'

-- name: limit.first
-- purpose: the first run behind each gate: it shows which limits an admission has to lock
-- fence: none: a hint. It locks nothing, since limits are locked before the rows of queues and namespaces
select
  --+ limit.head_columns
from (
  select waiting.* from unnest(:gates::text[]) as wanted (gate)
  cross join lateral (
    select * from carillon.run
    where split_part(run.limits, E'\n', 1) = wanted.gate and run.stage = 3 and run.limits is not null
      and run.state_reason is distinct from 'overlap'
    order by run.rank, run.id
    limit 1
  ) waiting
  where wanted.gate not like 'o:%'
  union all
  --+ limit.first_by_order
) run
join carillon.queue on queue.namespace_id = run.namespace_id and queue.name = run.queue
join carillon.namespace on namespace.id = run.namespace_id;

-- name: limit.heads
-- purpose: the first runs behind each gate, up to `max_runs` by rank; of an ordering key the first by time. Runs that wait for another
--   run of their job are left out
-- fence: none, a read; sent after the limits are locked, so that it sees what the previous admission committed. limit.admit compares
--   each row again. The rows of queue and namespace stay as they are until the admission is over: a change of their limits waits for
--   it, or this statement waits for the change and reads its result
select
  --+ limit.head_columns
from (
  select waiting.* from unnest(:gates::text[]) as wanted (gate)
  cross join lateral (
    select * from carillon.run
    where split_part(run.limits, E'\n', 1) = wanted.gate and run.stage = 3 and run.limits is not null
      and run.state_reason is distinct from 'overlap'
    order by run.rank, run.id
    limit :max_runs
  ) waiting
  where wanted.gate not like 'o:%'
  union all
  --+ limit.first_by_order
) run
join carillon.queue on queue.namespace_id = run.namespace_id and queue.name = run.queue
join carillon.namespace on namespace.id = run.namespace_id
for key share of queue, namespace;

-- name: limit.define
-- purpose: creates the rows of limits that were not used before
-- fence: unique (namespace_id, scope, kind, name), in its order
insert into carillon.limit_key (namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, defined_at)
select input.*
from unnest(:namespace_ids::int[], :scopes::text[], :kinds::text[], :names::text[], :limits::int[], :per_ms::bigint[], :bursts::int[],
            :on_failures::text[], :defined_times::timestamptz[])
  as input (namespace_id, scope, kind, name, max_count, per_ms, burst, on_failure, defined_at)
where (
  select limit_key.id from carillon.limit_key
  where limit_key.namespace_id = input.namespace_id and limit_key.scope = input.scope and limit_key.kind = input.kind
    and limit_key.name = input.name
) is null
order by 1, 2, 3, 4
on conflict (namespace_id, scope, kind, name) do nothing;

-- name: limit.lock
-- purpose: locks limits by name and by id, for an admission or for a change of the limits of a queue or a namespace; waits for the
--   admissions that hold them
-- fence: the row locks, in the order of ids; everything that decides is read in later statements
with wanted as materialized (
  select unnest(:ids::bigint[]) as id
  union all
  select limit_key.id
  from unnest(:namespace_ids::int[], :scopes::text[], :kinds::text[], :names::text[]) as input (namespace_id, scope, kind, name)
  join carillon.limit_key
    on limit_key.namespace_id = any (array[input.namespace_id]) and limit_key.scope = input.scope and limit_key.kind = input.kind
      and limit_key.name = input.name
)
select
  --+ limit.columns
  , floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms
from carillon.limit_key
where id = any (array(select id from wanted))
order by id
for update;

-- name: limit.redriven
-- purpose: the failed runs among these that were retried or discarded: runs that wait for them may continue
-- fence: none, a read; sent after the limits are locked
select run_id from carillon.redrive where run_id = any (:run_ids::uuid[]) and kind <> 'replay';

-- name: limit.release
-- purpose: deletes the holds that are over, and returns when their runs started and how they ended: the holds of `run_ids` on
--   `limit_ids`, and all holds of `whole_limit_ids`. A hold of a concurrency limit lasts from the admission to the end of the claim
--   that follows, of a rate until that claim, of an ordering key to the end of the run. Also returns the ordering keys' holds that are
--   not over, and whether their runs wait to be admitted again
-- fence: the limits are locked: a run gets a hold only under their lock, and one that lost it gets no other without it
with held as materialized (
  select hold.limit_id, hold.run_id, hold.fence, hold.gate, hold.admitted_at, limit_key.kind, run.id as live_id, run.fence as run_fence,
         run.claimed_at, run.state = 'blocked' and run.state_reason is distinct from 'overlap' as waits,
         case limit_key.kind
           when 'order' then run.id is null
           when 'rate' then (run.state = 'queued' and run.fence = hold.fence) is not true
           else (
             run.state = 'queued' and run.fence = hold.fence
             -- The low part of a fence counts the claims of the run; the rest changes with the history of the database.
             or run.state = 'running' and run.fence % 4294967296 = hold.fence % 4294967296 + 1
           ) is not true
         end as is_over
  from (
    select * from carillon.limit_hold where run_id = any (:run_ids::uuid[]) and limit_id = any (:limit_ids::bigint[])
    union
    select * from carillon.limit_hold where limit_id = any (:whole_limit_ids::bigint[])
  ) hold
  join carillon.limit_key on limit_key.id = any (array[hold.limit_id])
  left join carillon.run on run.id = any (array[hold.run_id])
), deleted as (
  delete from carillon.limit_hold hold using held
  where held.is_over and hold.limit_id = any (array[held.limit_id]) and hold.run_id = any (array[held.run_id])
    and hold.fence = held.fence
)
select held.limit_id, held.run_id, held.gate, held.is_over, coalesce(held.waits, false) as waits, ended.status = 'failed' as has_failed,
       ceil(extract(epoch from case
         when held.live_id is not null then case when held.run_fence > held.fence then held.claimed_at end
         when ended.fence is null then clock_timestamp()
         when ended.fence > held.fence then coalesce(ended.started_at, ended.finished_at)
       end) * 1000)::bigint as started_ms
from held
left join lateral (
  select history.status, history.fence, history.started_at, history.finished_at from carillon.run_history history
  where held.live_id is null and history.id = any (array[held.run_id]) and history.finished_at >= held.admitted_at
  limit 1
) ended on true
where held.is_over or held.kind = 'order';

-- name: limit.holders
-- purpose: runs that hold ordering keys and wait to be admitted again: they go before runs that were never admitted
-- fence: none, a read; sent after the limits are locked. The rows of queue and namespace stay as they are, as in limit.heads
select
  --+ limit.head_columns
from carillon.limit_hold hold
join carillon.run on run.id = any (array[hold.run_id])
join carillon.queue on queue.namespace_id = run.namespace_id and queue.name = run.queue
join carillon.namespace on namespace.id = run.namespace_id
where hold.limit_id = any (:limit_ids::bigint[]) and run.state = 'blocked' and run.state_reason is distinct from 'overlap'
for key share of queue, namespace;

-- name: limit.admit
-- purpose: queues admitted runs, records the holds that they get, and stores the limits with their new counters. `used` is without
--   the new holds; each element of `starts` is the text of a bigint[]; `is_swept`: every hold of the limits was read
-- fence: state and fence on the run's row: a run that was cancelled or ended meanwhile gets no hold; the limits are locked
with locked as materialized (
  select run.id
  from carillon.run join unnest(:run_ids::uuid[], :run_fences::bigint[]) as input (id, fence) on run.id = any (array[input.id])
  where run.fence = input.fence and run.state = 'blocked' and run.state_reason is distinct from 'overlap'
  order by input.id
  for update of run skip locked
), admitted as (
  update carillon.run set state = 'queued', state_reason = null from locked where run.id = any (array[locked.id])
  returning run.id, run.lane, run.rank
), held as (
  insert into carillon.limit_hold (limit_id, run_id, fence, gate, admitted_at)
  select input.limit_id, input.run_id, input.fence, input.gate, clock_timestamp()
  from unnest(:hold_limit_ids::bigint[], :hold_run_ids::uuid[], :hold_fences::bigint[], :hold_gates::text[])
    as input (limit_id, run_id, fence, gate)
  where (input.run_id in (select id from admitted)) is true
  on conflict (limit_id, run_id, fence) do nothing
  returning limit_id
), added as materialized (
  -- One value, because a join would compare every limit with every hold.
  select jsonb_object_agg(limit_id, count) as counts
  from (select limit_id, count(*) as count from held group by limit_id) by_limit
), counted as (
  update carillon.limit_key
  set max_count = input.max_count, per_ms = input.per_ms, burst = input.burst, on_failure = input.on_failure,
      defined_at = input.defined_at, used = input.used + coalesce(((select added.counts from added) ->> input.id::text)::int, 0),
      starts = input.starts::bigint[], stopped_by = input.stopped_by,
      swept_at = case when :is_swept then clock_timestamp() else limit_key.swept_at end,
      used_at = clock_timestamp()
  from unnest(:limit_ids::bigint[], :limits::int[], :per_ms::bigint[], :bursts::int[], :on_failures::text[], :defined_times::timestamptz[],
              :used::int[], :starts::text[], :stopped_by::uuid[])
    as input (id, max_count, per_ms, burst, on_failure, defined_at, used, starts, stopped_by)
  where limit_key.id = any (array[input.id])
)
select id, lane, rank from admitted;

-- name: limit.cancel_waiting
-- purpose: cancels the runs that wait behind a failed run, for ordering keys that request it
-- fence: state on the locked row, locked in the order of ids; the limits are locked
with waiting as materialized (
  select run.id from carillon.run
  where split_part(run.limits, E'\n', 1) = any (:gates::text[]) and run.stage = 3 and run.limits like 'o:%'
), locked as materialized (
  select run.id from carillon.run
  where run.id = any (array(select id from waiting))
    and split_part(run.limits, E'\n', 1) = any (:gates::text[]) and run.stage = 3 and run.limits like 'o:%'
  order by run.id
  for update of run
), ended as (
  delete from carillon.run using locked where run.id = any (array[locked.id]) returning run.*
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error)
  select
    --+ run.archived_columns
    , 'cancelled', 'ordering_stopped', run_at, attempt, losses, started_at, clock_timestamp(), null, null
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: limit.of_runs
-- purpose: the limits that runs hold or held: all limits of runs that may be over (ended or given back), and the rates of started
--   runs
-- fence: none: a hint for the admission
with held as materialized (
  select limit_id, gate from carillon.limit_hold where run_id = any (:ended_ids::uuid[])
  union all
  select hold.limit_id, hold.gate
  from carillon.limit_hold hold join carillon.limit_key on limit_key.id = any (array[hold.limit_id])
  where hold.run_id = any (:started_ids::uuid[]) and (limit_key.kind = 'rate') is true
)
select distinct limit_id, gate from held;

-- name: limit.unswept
-- purpose: limits with holds that no admission has read for some time
-- fence: none: a hint for the admission
select id from carillon.limit_key
where used > 0 and (swept_at is null or swept_at < clock_timestamp() - :after_ms::bigint * interval '1 millisecond')
limit :limit;

-- name: limit.delete_unused
-- purpose: deletes limits that no run uses any more: the next run that needs one creates it again
-- fence: the row's lock; a limit with a hold, or that an operator has set, or whose window still counts, stays
with idle as materialized (
  select id from carillon.limit_key
  where used = 0 and not is_fixed and stopped_by is null and is_counted
    and used_at < clock_timestamp() - greatest(:after_ms::bigint, coalesce(per_ms, 0)) * interval '1 millisecond'
  limit :limit
  for update skip locked
)
delete from carillon.limit_key using idle
where limit_key.id = any (array[idle.id])
  and (select gate from carillon.limit_hold where limit_id = limit_key.id limit 1) is null
returning limit_key.id;

-- name: limit.intake
-- purpose: queued runs whose limits are not recorded yet; a namespace that is null stands for all
-- fence: the row's lock
select queued.id, queued.namespace_id, queued.job_id, queued.lane, queued.task, queued.queue, queued.payload, queued.policy
from unnest(:lanes::int[], :namespace_ids::int[]) as wanted (lane, namespace_id)
cross join lateral (
  select * from carillon.run
  where run.lane = wanted.lane and run.stage = 1 and run.state = 'queued' and run.run_at <= statement_timestamp()
    and (wanted.namespace_id is null or run.namespace_id = wanted.namespace_id)
  limit :max_of_each
  for update of run skip locked
) queued
limit :max_of_all;

-- name: limit.block
-- purpose: puts runs behind their gates, in the lane from which they are assigned once they are admitted
-- fence: state on the row, which this transaction holds
update carillon.run
set state = 'blocked', state_reason = null, limits = input.limits, lane = input.lane
from unnest(:ids::uuid[], :limits::text[], :lanes::int[]) as input (id, limits, lane)
where run.id = any (array[input.id]) and run.state = 'queued'
returning run.id;

-- name: limit.refuse
-- purpose: fails runs whose limits cannot be computed from their payload; answers as run.finish does
-- fence: state on the row, which this transaction holds
with ended as (
  delete from carillon.run
  using unnest(:ids::uuid[], :errors::text[], :fingerprints::text[]) as input (id, error, fingerprint)
  where run.id = any (array[input.id]) and run.state = 'queued'
  returning run.*, input.error, input.fingerprint
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error, fingerprint)
  select
    --+ run.archived_columns
    , 'failed', 'limit_invalid', run_at, attempt, losses, started_at, clock_timestamp(), null, error::json, fingerprint
  from ended
)
select id, case when serial then job_id end as freed_job_id from ended;
