-- What becomes of a claim: the run ends, waits for its next try, or goes back as if it had not been claimed.

-- name: run.accepted
-- purpose: which results were accepted before, although whoever sent them never heard of it
--   A success is one only in history: whoever else ended the claim, or took it back, did not accept it
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[], $4 not ended before timestamptz, $5 successes boolean[]
-- fence: none, a read; the fence names the claim, and while that lasts the run is running
select i.id
from unnest($2::uuid[], $3::bigint[], $5::boolean[]) as i (id, fence, is_success)
where exists (
    select from carillon.run_history h
    where h.id = any (array[i.id]) and h.finished_at >= $4 and h.fence = i.fence and (h.status = 'succeeded' or not i.is_success)
      and h.session_id in ($1, '00000000-0000-0000-0000-000000000000')
  )
  or not i.is_success and exists (
    select from carillon.run r
    where r.id = any (array[i.id]) and r.fence = i.fence and (r.state <> 'running' or r.session_id = '00000000-0000-0000-0000-000000000000')
  );

-- name: run.finish
-- purpose: moves finished runs from the hot table into history; answers the jobs whose runs may wait for one of them
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 statuses text[], $5 reasons text[], $6 outputs text[],
--         $7 errors text[], $8 started at timestamptz[], $9 attempts spent smallint[], $10 fingerprints text[]
-- fence: (id, fence, session) on a running row
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
               $9::smallint[], $10::text[])
    as i (session_id, id, fence, status, reason, output, error, started_at, spent, fingerprint)
  where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.*, i.status, i.reason, i.output, i.error, i.started_at as begun_at, i.spent, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, status, case status when 'cancelled' then coalesce(cancel_reason, reason) else reason end,
         priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner,
         attempt + spent, losses, fence, session_id, greatest(begun_at, claimed_at), clock_timestamp(), output::json,
         error::json, attempts, version, fingerprint
  from ended
)
select id, case when serial then job_id end as freed_job_id from ended;

-- name: run.finish_noticed
-- purpose: as run.finish, for runs whose success somebody is to be told of
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 statuses text[], $5 reasons text[], $6 outputs text[],
--         $7 errors text[], $8 started at timestamptz[], $9 attempts spent smallint[], $10 fingerprints text[]
-- fence: (id, fence, session) on a running row
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
               $9::smallint[], $10::text[])
    as i (session_id, id, fence, status, reason, output, error, started_at, spent, fingerprint)
  where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
  returning r.*, i.status, i.reason, i.output, i.error, i.started_at as begun_at, i.spent, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, status, case status when 'cancelled' then coalesce(cancel_reason, reason) else reason end,
         priority, run_at, nominal_at, created_at, trigger, task, queue, payload, policy, labels, owner,
         attempt + spent, losses, fence, session_id, greatest(begun_at, claimed_at), clock_timestamp(), output::json,
         error::json, attempts, version, fingerprint
  from ended
), noticed as (
  insert into carillon.run_notice (run_id, namespace_id, ended_at)
  select id, namespace_id, clock_timestamp() from ended
  on conflict do nothing
)
select id, case when serial then job_id end as freed_job_id from ended;

-- name: run.retry
-- purpose: sends failed runs back to wait for their next try. Of very many tries the last hundred are kept: each would write all again
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 delays ms bigint[], $5 ranks bigint[],
--         $6 attempt records text[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = 'retrying',
    session_id = null,
    attempt = r.attempt + 1,
    run_at = clock_timestamp() + i.delay_ms * interval '1 millisecond',
    rank = i.rank,
    state_reason = null,
    attempts = case when jsonb_array_length(r.attempts) >= 100 then r.attempts - 0 else coalesce(r.attempts, '[]'::jsonb) end
      || i.record::jsonb
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
  as i (session_id, id, fence, delay_ms, rank, record)
where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
returning r.id, r.shard, r.run_at, r.cancel_reason is not null as stopped;

-- name: run.give_back
-- purpose: returns claimed runs to the queue without spending anything (drain, or never started); those with limits go behind their
--   gate, since another start is charged again
-- params: $1 session uuid, $2 ids uuid[], $3 fences bigint[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = case when r.limits is null then 'queued' else 'blocked' end, session_id = null
from unnest($2::uuid[], $3::bigint[]) as i (id, fence)
where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = $1 and r.state = 'running'
returning r.id, r.lane, r.rank, r.namespace_id as "namespaceId", r.cancel_reason is not null as stopped;

-- name: run.defer
-- purpose: returns claimed runs to wait for a time without spending anything
-- params: $1 sessions uuid[], $2 ids uuid[], $3 fences bigint[], $4 delays ms bigint[], $5 ranks bigint[], $6 reasons text[]
-- fence: (id, fence, session) on a running row
update carillon.run r
set state = 'scheduled',
    session_id = null,
    started_at = null,
    run_at = clock_timestamp() + i.delay_ms * interval '1 millisecond',
    rank = i.rank,
    state_reason = i.reason
from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
  as i (session_id, id, fence, delay_ms, rank, reason)
where r.id = any (array[i.id]) and r.fence = i.fence and r.session_id = i.session_id and r.state = 'running'
returning r.id, r.shard, r.run_at, r.cancel_reason is not null as stopped;

-- name: run.end_stopped
-- purpose: ends runs that were to stop and came back from their worker before they did; answers which. One that
--   failed then has the time of a try that will not be: it was due by its last start
-- params: $1 ids uuid[]
-- fence: the row's lock, taken in the order of ids; one that runs stays
with pick as materialized (
  select r.id from carillon.run r
  where r.id = any ($1::uuid[]) and r.state <> 'running' and r.cancel_reason is not null
  order by r.id
  for update of r
), ended as (
  delete from carillon.run r using pick p where r.id = any (array[p.id]) returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', cancel_reason, priority, least(run_at, claimed_at), nominal_at, created_at,
         trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, claimed_at, clock_timestamp(), null, null,
         attempts, version
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId"
from ended;

-- name: run.expire
-- purpose: ends runs that wait and whose deadline has passed; answers which, and what was promised of them. One that failed before
--   has the time of a try that will not be: it was due by its last start
-- params: $1 limit int, $2 error text, $3 its fingerprint text
-- fence: the row's lock; one that runs stays, and what somebody holds is left for the next pass
with late as materialized (
  select r.id
  from carillon.run r
  where r.deadline_at <= statement_timestamp() and r.state <> 'running'
  order by r.deadline_at
  limit $1
  for update of r skip locked
), ended as (
  delete from carillon.run r using late where r.id = any (array[late.id]) returning r.*
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'expired', priority, least(run_at, claimed_at), nominal_at, created_at, trigger,
         task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, claimed_at, clock_timestamp(), null,
         $2::json, attempts, version, $3
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue, case when serial then job_id end as "freedJobId",
       policy -> 'sla' as sla, nominal_at as nominal, trigger, fence, clock_timestamp() as "endedAt"
from ended;
