-- The statements of a job transaction: it locks the rows of job_due first, reads the deciding values in a later statement, and writes.

-- part: job_transaction.known_runs
-- purpose: the ids of the runs of locked jobs that may be live: those that the job lists, and those of jobs that list none
select due.job_id, listed.id
from carillon.job_due as due cross join lateral unnest(due.run_ids) as listed (id)
where due.job_id = any (:job_ids::uuid[])
union
select run.job_id, run.id from carillon.run where run.untracked and run.job_id = any (:job_ids::uuid[])

-- part: job_transaction.live_runs
-- purpose: the live runs among known_runs. A run that waits for a limit does not wait for another run of its job: it counts as queued
select known_runs.job_id, run.id,
       case when run.state = 'blocked' and run.limits is not null then 'queued' else run.state end as state
from known_runs join carillon.run on run.id = any (array[known_runs.id])

-- part: occurrence.insert
-- purpose: inserts entries of the ledger
insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, detail, recorded_at)
select entry.*, clock_timestamp()
from unnest(
  :job_ids::uuid[], :namespace_ids::int[], :versions::int[], :reasons::text[], :from_at::timestamptz[], :to_at::timestamptz[],
  :counts::bigint[], :details::text[]
) as entry (job_id, namespace_id, version, reason, from_at, to_at, count, detail)

-- name: job_transaction.set_lock_timeout
-- purpose: limits how long the statements of this transaction wait for a row that another transaction holds; :limit as in 2000ms
-- fence: none, a setting of the transaction
select set_config('lock_timeout', :limit, true);

-- name: job_transaction.lock_jobs
-- purpose: locks jobs for a change; waits for a transaction that fires or changes them now
-- fence: the row lock; the deciding values are read in a later statement
select job_id from carillon.job_due where job_id = any (:job_ids::uuid[]) order by job_id for update;

-- name: job_transaction.lock_available
-- purpose: locks jobs whose next waiting run may start, and skips rows that another transaction holds
-- fence: the row lock; the deciding values are read in a later statement
select job_id from carillon.job_due where job_id = any (:job_ids::uuid[]) order by job_id for update skip locked;

-- name: job_transaction.lock_due
-- purpose: the scheduler locks jobs whose next occurrence its wheel holds. A row that is locked, has changed or is not due is skipped
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through, runs_made) on the locked row
with owned_shards as materialized (
  --+ shard.owned
)
select due.job_id
from carillon.job_due as due
join unnest(:job_ids::uuid[], :versions::int[], :nominals::timestamptz[], :runs_made::bigint[])
  as expected (job_id, version, nominal_at, runs_made) on due.job_id = any (array[expected.job_id])
where (due.shard in (select id from owned_shards)) is true
  and due.state = 'active' and due.version = expected.version and due.next_nominal_at = expected.nominal_at
  and due.runs_made = expected.runs_made
  and (due.fired_through is null or expected.nominal_at > due.fired_through)
  and coalesce(due.next_fire_at, 'infinity') <= clock_timestamp()
  and (:windows_revision::bigint is null or exists (
    select from carillon.revision where revision.name = 'windows' and revision.value = :windows_revision
  ))
order by expected.job_id
for update of due skip locked;

-- name: job_transaction.lock_expired_pauses
-- purpose: the scheduler locks paused jobs whose pause is over
-- fence: (shard, owner, epoch) under a share lock; state, version and time on the locked row
with owned_shards as materialized (
  --+ shard.owned
)
select due.job_id
from carillon.job_due as due
join unnest(:job_ids::uuid[], :versions::int[]) as expected (job_id, version) on due.job_id = any (array[expected.job_id])
where (due.shard in (select id from owned_shards)) is true
  and due.state = 'paused' and due.version = expected.version and coalesce(due.next_fire_at, 'infinity') <= clock_timestamp()
order by expected.job_id
for update of due skip locked;

-- name: job_transaction.read_jobs
-- purpose: reads locked jobs: definition, due state, and the clock that decides which occurrences are due
-- fence: none, a read; sent after the lock, so it sees the commit of the previous lock holder
select job.id, job.namespace_id, job.shard, job.lane, job.key, job.task, job.queue, job.priority,
       case when :with_payload then job.payload end as payload, job.schedule, job.policy, job.firing, job.labels, job.owner,
       job.created_at, job.updated_at, job.defined_at, job.pause, job.ended_at, due.class, due.state, due.version,
       due.next_nominal_at, due.next_fire_at, due.fired_through, due.fired_count, due.max_runs, due.overlap, due.runs_made,
       due.run_ids, due.ledger_from, due.ledger_reason, due.catch_up_to, due.state_reason,
       (select value from carillon.revision where name = 'windows') as windows, clock_timestamp() as now
from carillon.job_due as due join carillon.job on job.id = any (array[due.job_id])
where due.job_id = any (:job_ids::uuid[])
order by due.job_id;

-- name: job_transaction.list_live_runs
-- purpose: reads the live runs of locked jobs, the oldest first
-- fence: none, a read; sent after the lock, for which a transaction that makes a run of these jobs waits
with known_runs as materialized (
  --+ job_transaction.known_runs
)
--+ job_transaction.live_runs
order by run.nominal_at, run.id;

-- name: job_transaction.lock_live_runs
-- purpose: locks the live runs that this transaction is about to end: no other transaction claims or ends them
-- fence: the row locks, taken in the order of ids
with known_runs as materialized (
  --+ job_transaction.known_runs
)
--+ job_transaction.live_runs
order by known_runs.id
for update of run;

-- name: job_transaction.lock_untracked_runs
-- purpose: locks :limit waiting runs of a job that does not list its runs and has more than one transaction should end. It locks none if
--   the job has fewer: then job_transaction.lock_live_runs locks all of them, in one order
-- fence: the row locks, taken in the order of ids; state on the locked row
with waiting as materialized (
  select run.id from carillon.run where run.untracked and run.job_id = :job_id and run.state <> 'running' limit :limit
)
select run.id from carillon.run
where run.id = any (array(select id from waiting)) and run.state <> 'running' and (select count(*) from waiting) = :limit
order by run.id
for update of run;

-- name: job_transaction.insert_runs
-- purpose: inserts runs of locked jobs. A value that is null is taken from the job
-- fence: primary key; the transaction has the job's row locked
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, state_reason, version, serial, untracked,
                          deadline_at, has_downstream)
select new_run.id, job.id, job.namespace_id, job.shard, coalesce(new_run.lane, job.lane), new_run.state,
       coalesce(new_run.priority, job.priority), new_run.rank, new_run.run_at, new_run.nominal_at, clock_timestamp(),
       new_run.trigger, job.task, coalesce(new_run.queue, job.queue), coalesce(new_run.payload::json, job.payload),
       coalesce(new_run.policy::json, job.policy), coalesce(new_run.labels::jsonb, nullif(job.labels, '{}')), job.owner,
       case new_run.state when 'blocked' then 'overlap' end, job.version, new_run.serial, new_run.untracked,
       new_run.deadline_at, job.has_downstream
from unnest(
  :ids::uuid[], :job_ids::uuid[], :states::text[], :ranks::bigint[], :run_at::timestamptz[], :nominals::timestamptz[],
  :triggers::text[], :serial::boolean[], :untracked::boolean[], :lanes::int[], :queues::text[], :priorities::smallint[],
  :payloads::text[], :policies::text[], :labels::text[], :deadlines::timestamptz[]
) as new_run (id, job_id, state, rank, run_at, nominal_at, trigger, serial, untracked, lane, queue, priority, payload, policy,
              labels, deadline_at)
join carillon.job on job.id = any (array[new_run.job_id])
on conflict (id) do nothing
returning id, job_id, state, lane, rank, run_at, created_at;

-- name: job_transaction.end_runs
-- purpose: cancels waiting runs. A run that waited for a retry keeps its last start as its due time, because the time of the retry never
--   comes
-- fence: the row lock; a running run stays
with ended as (
  delete from carillon.run
  using unnest(:ids::uuid[], :reasons::text[]) as chosen (id, reason)
  where run.id = any (array[chosen.id]) and run.state <> 'running'
  returning run.*, chosen.reason
), history as (
  insert into carillon.run_history (id, job_id, namespace_id, status, status_reason, priority, run_at, nominal_at, created_at,
    trigger, task, queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, finished_at, output,
    error, attempts, version)
  select id, job_id, namespace_id, 'cancelled', reason, priority, least(run_at, started_at), nominal_at, created_at, trigger, task,
         queue, payload, policy, labels, owner, attempt, losses, fence, session_id, started_at, clock_timestamp(), null, null, attempts,
         version
  from ended
)
select id, job_id as "jobId", namespace_id as "namespaceId", task, queue from ended;

-- name: job_transaction.stop_runs
-- purpose: requests the workers of running runs to stop them; the first reason stays
-- fence: the row lock; only a running run
update carillon.run
set cancel_reason = coalesce(run.cancel_reason, chosen.reason)
from unnest(:ids::uuid[], :reasons::text[]) as chosen (id, reason)
where run.id = any (array[chosen.id]) and run.state = 'running'
returning run.id, run.session_id;

-- name: job_transaction.untrack_runs
-- purpose: marks runs of a job that no longer lists its runs; those that waited for other runs of it are queued
-- fence: the row lock; the transaction has the job's row locked
with locked as materialized (
  select id, state = 'blocked' and state_reason = 'overlap' as waited
  from carillon.run
  where id = any (:ids::uuid[])
  order by id
  for update
)
update carillon.run
set untracked = true, state = case when locked.waited then 'queued' else run.state end,
    state_reason = case when locked.waited then null else run.state_reason end
from locked
where run.id = any (array[locked.id])
returning run.id, run.lane, run.rank, locked.waited;

-- name: job_transaction.save_due_states
-- purpose: writes the due states of locked jobs. Each element of :run_ids is the text of a uuid[]
-- fence: version on the locked row
update carillon.job_due as due
set version = next.version, state = next.state, class = next.class, next_nominal_at = next.next_nominal_at,
    next_fire_at = next.next_fire_at, fired_through = next.fired_through, fired_count = next.fired_count,
    max_runs = next.max_runs, overlap = next.overlap, runs_made = next.runs_made, run_ids = next.run_ids::uuid[],
    ledger_from = next.ledger_from, ledger_reason = next.ledger_reason, catch_up_to = next.catch_up_to,
    state_reason = next.state_reason
from unnest(
  :job_ids::uuid[], :expected_versions::int[], :versions::int[], :states::text[], :classes::smallint[],
  :next_nominals::timestamptz[], :next_fires::timestamptz[], :fired_through::timestamptz[], :fired_counts::int[],
  :max_runs::int[], :overlaps::text[], :runs_made::bigint[], :run_ids::text[], :ledger_from::timestamptz[],
  :ledger_reasons::text[], :catch_up_to::timestamptz[], :state_reasons::text[]
) as next (job_id, expected_version, version, state, class, next_nominal_at, next_fire_at, fired_through, fired_count, max_runs,
           overlap, runs_made, run_ids, ledger_from, ledger_reason, catch_up_to, state_reason)
where due.job_id = any (array[next.job_id]) and due.version = next.expected_version
returning due.job_id;

-- name: job_transaction.add_occurrences
-- purpose: adds entries to the ledger; a range that exists grows
-- fence: primary key; the transaction has the job's row locked
--+ occurrence.insert
on conflict (job_id, version, reason, from_at) do update
set to_at = greatest(occurrence.to_at, excluded.to_at), count = occurrence.count + excluded.count,
    recorded_at = excluded.recorded_at, detail = case when occurrence.detail = excluded.detail then occurrence.detail end;

-- name: job_transaction.admit_runs
-- purpose: queues runs that waited for other runs of their job
-- fence: state on the locked row, locked in the order of ids; the transaction has the job's row locked
with locked as materialized (
  select id from carillon.run
  where id = any (:ids::uuid[]) and stage = 3 and state_reason = 'overlap'
  order by id
  for update
)
update carillon.run
set state = 'queued', state_reason = null
from locked
where run.id = any (array[locked.id])
returning run.id, run.lane, run.rank;

-- name: job_transaction.list_admissible
-- purpose: reads jobs with runs that wait for other runs of their job although none of those is live any more
-- fence: none: the result is a hint, the admission reads again under the job's lock
select waiting.job_id
from (
  select distinct job_id
  from carillon.run
  where shard = any (:shards::smallint[]) and stage = 3 and serial and state_reason = 'overlap'
) as waiting
join carillon.job_due as due on due.job_id = any (array[waiting.job_id])
where not exists (
  select from unnest(due.run_ids) as listed (id) join carillon.run on run.id = any (array[listed.id])
  where run.state <> 'blocked' or run.limits is not null
)
limit :limit;
