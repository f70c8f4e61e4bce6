-- The intake of runs with limits. A run with limits is queued in a lane from which no worker is served (gated), or in a queue that has
-- limits. Intake moves it behind its gate: it is blocked, with its limits recorded.

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
