-- Runs whose session is gone. A session ends by the removal of its row; these come after.

-- name: run.lost
-- purpose: running runs whose session does not exist any more (runs that wait for a callback have none), and runs that were asked
--   to stop, were given back by their worker and not ended, because the node died in between. Reads all live runs, since no index has
--   them: it is executed rarely
-- fence: none, a read; the statements that act on the runs compare again
select run.id, run.session_id as "sessionId"
from carillon.run left join carillon.worker_session session on session.id = run.session_id
where run.state = 'running' and run.session_id <> '00000000-0000-0000-0000-000000000000' and session.id is null
  or run.state <> 'running' and run.cancel_reason is not null
limit :limit;

-- name: run.rescue
-- purpose: queues those of these runs again whose session does not exist any more. The loss of a started run is counted. From then
--   on it is assigned only with its start recorded, and one at a time per worker once another loss would be the last: a run that
--   kills its workers becomes visible, and takes few others down with it. Runs with limits go behind their gate
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select run.id, run.losses + case when run.started_at is null then 0 else 1 end as losses
  from carillon.run
  where run.id = any (:ids::uuid[]) and run.state = 'running' and run.session_id <> '00000000-0000-0000-0000-000000000000'
    and (run.started_at is null or run.losses < :max_losses and (run.policy ->> 'guarantee' = 'at_most_once') is not true)
    and not exists (select 1 from carillon.worker_session session where session.id = any (array[run.session_id]))
  for update of run skip locked
)
update carillon.run
set state = case when run.limits is null then 'queued' else 'blocked' end,
    session_id = null,
    losses = lost.losses,
    state_reason = case when run.started_at is null then 'not_started' else 'worker_lost' end,
    lane = twin.id
from lost, carillon.lane, carillon.lane twin
where run.id = any (array[lost.id]) and lane.id = run.lane
  and twin.queue = lane.queue and twin.task = lane.task and twin.requires = lane.requires
  and twin.kind = case
    when lane.kind in ('strict', 'strict_once', 'admitted') then lane.kind
    when lost.losses >= :max_losses - 1 then 'lost'
    else 'solo'
  end
returning run.id, run.lane, run.rank, run.namespace_id as "namespaceId", run.cancel_reason is not null as stopped;

-- name: run.fail_lost
-- purpose: fails those of these runs that lost too many workers, and at-most-once runs that were started, if their session does not
--   exist any more. Returns them with their SLA
-- fence: the session's row is gone; a claim needs that row
with lost as materialized (
  select run.id
  from carillon.run
  where run.id = any (:ids::uuid[]) and run.state = 'running' and run.started_at is not null
    and run.session_id <> '00000000-0000-0000-0000-000000000000'
    and (run.losses >= :max_losses or run.policy ->> 'guarantee' = 'at_most_once')
    and not exists (select 1 from carillon.worker_session session where session.id = any (array[run.session_id]))
  for update of run skip locked
), ended as (
  delete from carillon.run using lost where run.id = any (array[lost.id]) returning run.*
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error, fingerprint)
  select
    --+ run.archived_columns
    , 'failed', 'worker_lost', run_at, attempt, losses + 1, started_at, clock_timestamp(), null, :error::json, :fingerprint
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId",
       policy -> 'sla' as sla, nominal_at as nominal, trigger, fence, clock_timestamp() as "endedAt"
from ended;
