-- Runs whose session is gone. A session ends by the removal of its row; these come after.

-- name: run.lost
-- purpose: running runs whose session no longer exists; who waits for a callback has none to lose. And runs that were to stop, came
--   back from their worker, and were not ended: whoever gave them back died before. It looks at all live runs, since no index knows
--   who runs: not for every day
-- params: $1 limit int
-- fence: none, a read; who acts on it compares again
select r.id, r.session_id as "sessionId"
from carillon.run r left join carillon.worker_session s on s.id = r.session_id
where r.state = 'running' and r.session_id <> '00000000-0000-0000-0000-000000000000' and s.id is null
  or r.state <> 'running' and r.cancel_reason is not null
limit $1;

-- name: run.rescue
-- purpose: of these runs, queues again those whose session no longer exists. The loss of one that was begun is counted. From now
--   on they are handed out with the start on record, and one at a time once another loss is the last: one that takes its workers
--   down shows, and those that it took along lose little. Those with limits go behind their gate
-- params: $1 ids uuid[], $2 most losses int
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select r.id, r.losses + case when r.started_at is null then 0 else 1 end as losses
  from carillon.run r
  where r.id = any ($1::uuid[]) and r.state = 'running' and r.session_id <> '00000000-0000-0000-0000-000000000000'
    and (r.started_at is null or r.losses < $2 and (r.policy ->> 'guarantee' = 'at_most_once') is not true)
    and not exists (select 1 from carillon.worker_session s where s.id = any (array[r.session_id]))
  for update of r skip locked
)
update carillon.run r
set state = case when r.limits is null then 'queued' else 'blocked' end,
    session_id = null,
    losses = lost.losses,
    state_reason = case when r.started_at is null then 'not_started' else 'worker_lost' end,
    lane = twin.id
from lost, carillon.lane l, carillon.lane twin
where r.id = any (array[lost.id]) and l.id = r.lane
  and twin.queue = l.queue and twin.task = l.task and twin.requires = l.requires
  and twin.kind = case
    when l.kind in ('strict', 'strict_once', 'admitted') then l.kind
    when lost.losses >= $2 - 1 then 'lost'
    else 'solo'
  end
returning r.id, r.lane, r.rank, r.namespace_id as "namespaceId", r.cancel_reason is not null as stopped;

-- name: run.bury_lost
-- purpose: of these runs, ends those that took their workers down too often, and at-most-once runs that were begun, if their
--   session no longer exists; answers which, and what was promised of them
-- params: $1 ids uuid[], $2 most losses int, $3 error text, $4 its fingerprint text
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select r.id
  from carillon.run r
  where r.id = any ($1::uuid[]) and r.state = 'running' and r.started_at is not null
    and r.session_id <> '00000000-0000-0000-0000-000000000000'
    and (r.losses >= $2 or r.policy ->> 'guarantee' = 'at_most_once')
    and not exists (select 1 from carillon.worker_session s where s.id = any (array[r.session_id]))
  for update of r skip locked
), ended as (
  delete from carillon.run r using lost where r.id = any (array[lost.id]) returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'worker_lost', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses + 1, fence, session_id, started_at, clock_timestamp(), null, $3::json,
         attempts, version, $4
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId",
       policy -> 'sla' as sla, nominal_at as nominal, trigger, fence, clock_timestamp() as "endedAt"
from ended;
