-- Changes of single runs that callers request, with or without a job.

-- name: run_change.cancel
-- purpose: cancels waiting runs, near their time or far from it, and runs that a job has yet to make under their id; if
--   `is_of_running`, asks the workers of running ones to stop. Other runs are missing in the answer. One that failed before has the
--   run_at of an attempt that will not happen: its last start is recorded instead
-- fence: the row's lock, taken in the order of ids; state on the locked row
with locked as materialized (
  select id, state from carillon.run where namespace_id = :namespace_id and id = any (:ids::uuid[]) order by id for update
), ended as (
  delete from carillon.run using locked where run.id = any (array[locked.id]) and locked.state <> 'running' returning run.*
), locked_far as materialized (
  select far.namespace_id, far.id
  from (select :namespace_id::int as namespace_id, unnest(:ids::uuid[]) as id) input
  join carillon.far_future_run far on far.namespace_id = any (array[input.namespace_id]) and far.id = input.id
  order by input.id
  for update of far
), ended_far as (
  delete from carillon.far_future_run far using locked_far
  where far.namespace_id = any (array[locked_far.namespace_id]) and far.id = locked_far.id
  returning far.*
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error)
  select
    --+ run.archived_columns
    , 'cancelled', :reason, least(run_at, claimed_at), attempt, losses, claimed_at, clock_timestamp(), null::json, null::json
  from ended
  union all
  select
    --+ run.archived_far_columns
    , 'cancelled', :reason, far.run_at, 0, 0, null, clock_timestamp(), null, null
  from ended_far far join carillon.lane on lane.id = far.lane
), stopped as (
  update carillon.run set cancel_reason = coalesce(run.cancel_reason, :reason) from locked
  where run.id = any (array[locked.id]) and locked.state = 'running' and :is_of_running::boolean
  returning run.id, run.job_id, run.task, run.queue
)
select id, job_id, task, queue, true as is_ended, case when serial then job_id end as freed_job_id from ended
union all
select far.id, far.id, lane.task, lane.queue, true, null from ended_far far join carillon.lane on lane.id = far.lane
union all
select id, job_id, task, queue, false, null from stopped
union all
select id, id, task, queue, true, null from carillon.cancel_planned_runs(:namespace_id, :ids::uuid[], :reason);

-- name: run_change.reschedule
-- purpose: gives a run that waits for its time or for a worker another time. A one-off run gets it as its nominal time too
-- fence: the row's lock; a run that is running, blocked or ended stays as it is
update carillon.run
set state = case
      when :run_at::timestamptz > clock_timestamp() then case run.state when 'retrying' then 'retrying' else 'scheduled' end
      when run.limits is null then 'queued'
      else 'blocked'
    end,
    state_reason = 'rescheduled',
    run_at = :run_at,
    rank = :rank,
    nominal_at = case when run.trigger = 'once' then :run_at else run.nominal_at end,
    deadline_at = case when run.trigger = 'once' then run.deadline_at + (:run_at - run.nominal_at) else run.deadline_at end
where run.namespace_id = :namespace_id and run.id = :id and run.state in ('scheduled', 'queued', 'retrying')
returning run.id, run.state, run.lane, run.rank, run.namespace_id as "namespaceId", run.shard, run.run_at;

-- name: run_change.promote
-- purpose: moves a far-future run into the hot table, where it can be changed
-- fence: one statement, so that a run is in exactly one of the two tables
with moved as (
  delete from carillon.far_future_run where namespace_id = :namespace_id and id = :id returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at, trigger,
                          task, queue, payload, policy, labels, owner, deadline_at)
select moved.id, moved.id, moved.namespace_id, moved.shard, moved.lane, 'scheduled', moved.priority, moved.rank, moved.run_at,
       moved.run_at, moved.created_at, 'once',
       lane.task, lane.queue, moved.payload, moved.policy, moved.labels, moved.owner, moved.deadline_at
from moved join carillon.lane on lane.id = moved.lane
on conflict (id) do nothing;
