-- Limits, how runs come behind their gates. A run with limits is queued in a lane that no worker is served from (gated), or in a queue
-- that has limits. Intake moves it behind its gate: it is blocked, with its limits written down.

-- name: limit.intake
-- purpose: runs that were queued and whose limits are not written down yet
-- params: $1 lanes int[], $2 their namespaces or null for all int[], $3 most of each int, $4 most of all int
-- fence: the row's lock
select r.id, r.namespace_id, r.job_id, r.lane, r.task, r.queue, r.payload, r.policy
from unnest($1::int[], $2::int[]) as l (lane, namespace_id)
cross join lateral (
  select * from carillon.run r
  where r.lane = l.lane and r.stage = 1 and r.state = 'queued' and r.run_at <= statement_timestamp()
    and (l.namespace_id is null or r.namespace_id = l.namespace_id)
  limit $3
  for update of r skip locked
) r
limit $4;

-- name: limit.block
-- purpose: puts runs behind their gates, in the lane from which they are handed out once they are admitted
-- params: $1 ids uuid[], $2 limits text[], $3 lanes int[]
-- fence: state on the row, which this transaction holds
update carillon.run r
set state = 'blocked', state_reason = null, limits = i.limits, lane = i.lane
from unnest($1::uuid[], $2::text[], $3::int[]) as i (id, limits, lane)
where r.id = any (array[i.id]) and r.state = 'queued'
returning r.id;

-- name: limit.refuse
-- purpose: ends runs whose limits cannot be told from their payload; answers as run.finish does
-- params: $1 ids uuid[], $2 errors text[], $3 fingerprints text[]
-- fence: state on the row, which this transaction holds
with ended as (
  delete from carillon.run r
  using unnest($1::uuid[], $2::text[], $3::text[]) as i (id, error, fingerprint)
  where r.id = any (array[i.id]) and r.state = 'queued'
  returning r.*, i.error, i.fingerprint
), kept as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version, fingerprint)
  select id, job_id, namespace_id, 'failed', 'limit_invalid', priority, run_at, nominal_at, created_at, trigger, task, queue,
         payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, error::json,
         attempts, version, fingerprint
  from ended
)
select id, case when serial then job_id end as freed_job_id from ended;
