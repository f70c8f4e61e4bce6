-- Changes of single runs that somebody asks for, whatever their job.

-- name: run_change.cancel
-- purpose: ends runs that wait, near their time or far from it, or that a job is still to make under their id, and asks the workers of
--   those that run to stop, unless these are to go on; of the others it says nothing. One that failed before has the time of a try that will not be: it was due by its last start
-- params: $1 namespace id int, $2 ids uuid[], $3 reason text, $4 those that run too boolean
-- fence: the row's lock, taken in the order of ids; state on the locked row
with pick as materialized (
  select r.id, r.state from carillon.run r where r.namespace_id = $1 and r.id = any ($2::uuid[]) order by r.id for update
), ended as (
  delete from carillon.run r using pick p where r.id = any (array[p.id]) and p.state <> 'running' returning r.*
), pick_far_future as materialized (
  select l.namespace_id, l.id
  from (select $1::int as namespace_id, unnest($2::uuid[]) as id) i
  join carillon.far_future_run l on l.namespace_id = any (array[i.namespace_id]) and l.id = i.id
  order by i.id
  for update of l
), ended_far_future as (
  delete from carillon.far_future_run l using pick_far_future p
  where l.namespace_id = any (array[p.namespace_id]) and l.id = p.id
  returning l.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', $3, priority, least(run_at, claimed_at), nominal_at, created_at, trigger, task,
         queue, payload, policy, labels, owner, attempt, losses, fence, session_id, claimed_at, clock_timestamp(), null::json,
         null::json, attempts, version
  from ended
  union all
  select e.id, e.id, e.namespace_id, 'cancelled', $3, e.priority, e.run_at, e.run_at, e.created_at, 'once', l.task, l.queue,
         e.payload, e.policy, e.labels, e.owner, 0, 0, 0, null, null, clock_timestamp(), null, null, null, null
  from ended_far_future e join carillon.lane l on l.id = e.lane
), stopped as (
  update carillon.run r set cancel_reason = coalesce(r.cancel_reason, $3) from pick p
  where r.id = any (array[p.id]) and p.state = 'running' and $4::boolean
  returning r.id, r.job_id, r.task, r.queue
)
select id, job_id, task, queue, true as is_ended, case when serial then job_id end as freed_job_id from ended
union all
select e.id, e.id, l.task, l.queue, true, null from ended_far_future e join carillon.lane l on l.id = e.lane
union all
select id, job_id, task, queue, false, null from stopped
union all
select id, id, task, queue, true, null from carillon.cancel_planned_runs($1, $2::uuid[], $3);

-- name: run_change.reschedule
-- purpose: gives a run that waits for its time or for a worker another time. That of a one-off job is its nominal time too
-- params: $1 namespace id int, $2 id uuid, $3 run at timestamptz, $4 rank bigint
-- fence: the row's lock; one that runs, waits for others or has ended stays as it is
update carillon.run r
set state = case
      when $3::timestamptz > clock_timestamp() then case r.state when 'retrying' then 'retrying' else 'scheduled' end
      when r.limits is null then 'queued'
      else 'blocked'
    end,
    state_reason = 'rescheduled',
    run_at = $3,
    rank = $4,
    nominal_at = case when r.trigger = 'once' then $3 else r.nominal_at end,
    deadline_at = case when r.trigger = 'once' then r.deadline_at + ($3 - r.nominal_at) else r.deadline_at end
where r.namespace_id = $1 and r.id = $2 and r.state in ('scheduled', 'queued', 'retrying')
returning r.id, r.state, r.lane, r.rank, r.namespace_id as "namespaceId", r.shard, r.run_at;

-- name: run_change.recall
-- purpose: takes a run that waits far from its time into the hot table, so that it can be changed there
-- params: $1 namespace id int, $2 id uuid
-- fence: one statement, so that a run is in exactly one of the two tables
with gone as (
  delete from carillon.far_future_run where namespace_id = $1 and id = $2 returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at, trigger,
                          task, queue, payload, policy, labels, owner, deadline_at)
select g.id, g.id, g.namespace_id, g.shard, g.lane, 'scheduled', g.priority, g.rank, g.run_at, g.run_at, g.created_at, 'once',
       l.task, l.queue, g.payload, g.policy, g.labels, g.owner, g.deadline_at
from gone g join carillon.lane l on l.id = g.lane
on conflict (id) do nothing;
