-- The ends of claims: the run ends, waits for its next attempt, or goes back as if it had not been claimed. Then the losses of claims:
-- a session ends by the removal of its row, and the statements that rescue or fail its runs follow.

-- name: run.accepted
-- purpose: the results among these that were accepted before, although their sender does not know it. A success was accepted only
--   if history has it as one: any other end of the claim did not accept it
-- fence: none, a read; the fence names the claim, and while the claim lasts the run is running
select input.id
from unnest(:ids::uuid[], :fences::bigint[], :successes::boolean[]) as input (id, fence, is_success)
where exists (
    select from carillon.run_history history
    where history.id = any (array[input.id]) and history.finished_at >= :not_before and history.fence = input.fence
      and (history.status = 'succeeded' or not input.is_success)
      and history.session_id in (:session_id, '00000000-0000-0000-0000-000000000000')
  )
  or not input.is_success and exists (
    select from carillon.run
    where run.id = any (array[input.id]) and run.fence = input.fence
      and (run.state <> 'running' or run.session_id = '00000000-0000-0000-0000-000000000000')
  );

-- part: run.archive_finished
-- purpose: the beginning of run.finish: moves finished runs from the hot table into history
-- fence: (id, fence, session) on a running row
with ended as (
  delete from carillon.run
  using unnest(:session_ids::uuid[], :ids::uuid[], :fences::bigint[], :statuses::text[], :reasons::text[], :outputs::text[],
               :errors::text[], :start_times::timestamptz[], :spent_attempts::smallint[], :fingerprints::text[])
    as input (session_id, id, fence, status, reason, output, error, started_at, spent, fingerprint)
  where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
  returning run.*, input.status, input.reason, input.output, input.error, input.started_at as begun_at, input.spent, input.fingerprint
), archived as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, status, case status when 'cancelled' then coalesce(cancel_reason, reason) else reason end,
         priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner,
         attempt + spent, losses, fence, session_id, greatest(begun_at, claimed_at), statement_timestamp(), output::json,
         error::json, attempts, version, fingerprint
  from ended
)

-- part: run.archived_columns
-- purpose: the columns that run and run_history have in common and that the end of a run leaves as they are
id, job_id, namespace_id, priority, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner, fence, session_id,
attempts, version

-- part: run.archived_far_columns
-- purpose: run.archived_columns of a far-future run (far) with its lane
far.id, far.id, far.namespace_id, far.priority, far.run_at, far.created_at, 'once', lane.task, lane.queue, far.payload, far.policy,
far.labels, far.owner, 0, null, null, null

-- name: run.finish
-- purpose: ends the runs whose results a gateway received. Returns their time, and the jobs whose other runs may wait for one of them
-- fence: (id, fence, session) on a running row
--+ run.archive_finished
select id, case when serial then job_id end as freed_job_id, statement_timestamp() as finished_at from ended;

-- name: run.finish_with_notices
-- purpose: as run.finish, for runs whose success webhooks subscribe to
-- fence: (id, fence, session) on a running row
--+ run.archive_finished
, noticed as (
  insert into carillon.run_notice (run_id, namespace_id, ended_at)
  select id, namespace_id, clock_timestamp() from ended
  on conflict do nothing
)
select id, case when serial then job_id end as freed_job_id, statement_timestamp() as finished_at from ended;

-- part: run.kept_attempts
-- purpose: the records of earlier attempts, before one more is appended. The last hundred are kept, because each attempt writes all of
--   them again
case when jsonb_array_length(run.attempts) >= 100 then run.attempts - 0 else coalesce(run.attempts, '[]'::jsonb) end

-- part: run.ended_claim
-- purpose: the record of a claim that ends without a result, with the outcome behind it
jsonb_build_object('attempt', run.attempt + 1, 'fence', run.fence, 'sessionId', run.session_id,
                   'startedAt', round(date_part('epoch', coalesce(run.started_at, run.claimed_at)) * 1000),
                   'endedAt', round(date_part('epoch', clock_timestamp()) * 1000), 'outcome',

-- name: run.retry
-- purpose: makes failed runs wait for their next attempt
-- fence: (id, fence, session) on a running row
update carillon.run
set state = 'retrying',
    session_id = null,
    attempt = run.attempt + 1,
    run_at = clock_timestamp() + input.delay_ms * interval '1 millisecond',
    rank = input.rank,
    state_reason = null,
    attempts =
      --+ run.kept_attempts
      || input.record::jsonb
from unnest(:session_ids::uuid[], :ids::uuid[], :fences::bigint[], :delays_ms::bigint[], :ranks::bigint[], :records::text[])
  as input (session_id, id, fence, delay_ms, rank, record)
where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
returning run.id, run.shard, run.run_at, run.cancel_reason is not null as stopped;

-- name: run.give_back
-- purpose: returns claimed runs to the queue without spending an attempt (drain, or never started). A claim whose start is recorded
--   joins the attempts. Runs with limits go behind their gate, since another start is charged again
-- fence: (id, fence, session) on a running row
update carillon.run
set state = case when run.limits is null then 'queued' else 'blocked' end,
    session_id = null,
    attempts = case when run.started_at is null then run.attempts else
      --+ run.kept_attempts
      ||
      --+ run.ended_claim
      'drained') end
from unnest(:ids::uuid[], :fences::bigint[]) as input (id, fence)
where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = :session_id and run.state = 'running'
returning run.id, run.lane, run.rank, run.namespace_id as "namespaceId", run.cancel_reason is not null as stopped;

-- name: run.defer
-- purpose: makes claimed runs wait for some time without spending an attempt
-- fence: (id, fence, session) on a running row
update carillon.run
set state = 'scheduled',
    session_id = null,
    started_at = null,
    run_at = clock_timestamp() + input.delay_ms * interval '1 millisecond',
    rank = input.rank,
    state_reason = input.reason
from unnest(:session_ids::uuid[], :ids::uuid[], :fences::bigint[], :delays_ms::bigint[], :ranks::bigint[], :reasons::text[])
  as input (session_id, id, fence, delay_ms, rank, reason)
where run.id = any (array[input.id]) and run.fence = input.fence and run.session_id = input.session_id and run.state = 'running'
returning run.id, run.shard, run.run_at, run.cancel_reason is not null as stopped;

-- name: run.end_stopped
-- purpose: cancels runs that were asked to stop and that their worker gave back. One that failed before has the run_at of an
--   attempt that will not happen: its last start is recorded instead
-- fence: the row's lock, taken in the order of ids; a running run stays
with locked as materialized (
  select run.id from carillon.run
  where run.id = any (:ids::uuid[]) and run.state <> 'running' and run.cancel_reason is not null
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
    , 'cancelled', cancel_reason, least(run_at, claimed_at), attempt, losses, claimed_at, clock_timestamp(), null, null
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: run.expire
-- purpose: fails waiting runs whose deadline has passed, and returns them with their SLA. One that failed before has the run_at of
--   an attempt that will not happen: its last start is recorded instead
-- fence: the row's lock; a running run stays, and a row that another transaction holds is left for the next pass
with overdue as materialized (
  select run.id
  from carillon.run
  where run.deadline_at <= statement_timestamp() and run.state <> 'running'
  order by run.deadline_at
  limit :limit
  for update of run skip locked
), ended as (
  delete from carillon.run using overdue where run.id = any (array[overdue.id]) returning run.*
), archived as (
  insert into carillon.run_history (
    --+ run.archived_columns
    , status, status_reason, run_at, attempt, losses, started_at, finished_at, output, error, fingerprint)
  select
    --+ run.archived_columns
    , 'failed', 'expired', least(run_at, claimed_at), attempt, losses, claimed_at, clock_timestamp(), null, :error::json, :fingerprint
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId",
       policy -> 'sla' as sla, nominal_at as nominal, trigger, fence, clock_timestamp() as "endedAt"
from ended;

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
-- purpose: queues those of these runs again whose session does not exist any more. The lost claim joins the attempts; if its start
--   is recorded, the loss is counted. From then on the run is assigned only with its start recorded, and one at a time per worker once
--   another loss would be the last: a run that kills its workers becomes visible, and takes few others down with it. Runs with limits
--   go behind their gate
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
    attempts =
      --+ run.kept_attempts
      ||
      --+ run.ended_claim
      case when run.started_at is null then 'not_started' else 'worker_lost' end),
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
