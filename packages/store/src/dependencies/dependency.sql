-- Jobs that wait for the runs of other jobs. The table dependency has a row for each upstream job of a waiting job; dependency_event has
-- the ends of upstream runs that the waiting job has not processed.

-- name: dependency.resolve
-- purpose: finds the jobs, of those that have not ended, that a schedule names by id or by key
-- fence: none, a read; the caller locks the jobs and reads again
select id, key from carillon.job where (namespace_id = :namespace_id) is true and ended_at is null and id = any (:ids::uuid[])
union
select id, key
from (
  select id, key from carillon.job
  where namespace_id = :namespace_id and ended_at is null and key = any (:keys::text[])
  offset 0
) as named;

-- name: dependency.mark_upstream
-- purpose: marks jobs and their live runs as upstream of other jobs, so that each end is stored for the waiting jobs. Returns the jobs
--   that have not ended
-- fence: the transaction has the rows of job_due locked, so a transaction that makes a run of these jobs waits; each run is locked
with alive as materialized (
  select job_id, run_ids from carillon.job_due where job_id = any (:job_ids::uuid[]) and state <> 'cancelled'
), known_runs as materialized (
  select listed.id from alive cross join lateral unnest(alive.run_ids) as listed (id)
  union all
  select run.id from carillon.run where run.untracked and run.job_id = any (array(select job_id from alive))
), locked_runs as materialized (
  select run.id from carillon.run
  where run.id = any (array(select id from known_runs)) and run.has_downstream is not true
  order by run.id
  for update of run
), marked_runs as (
  update carillon.run set has_downstream = true from locked_runs where run.id = any (array[locked_runs.id])
), marked_jobs as (
  update carillon.job set has_downstream = true from alive
  where job.id = any (array[alive.job_id]) and job.has_downstream is not true
)
select job_id from alive;

-- name: dependency.link
-- purpose: stores the upstream jobs of waiting jobs
-- fence: primary key; the rows of job_due are locked, or new
insert into carillon.dependency (job_id, position, namespace_id, shard, upstream_id, on_status, condition)
select * from unnest(
  :job_ids::uuid[], :positions::smallint[], :namespace_ids::int[], :shards::smallint[], :upstream_ids::uuid[], :on_statuses::text[],
  :conditions::text[]
);

-- name: dependency.unlink
-- purpose: deletes the dependencies of jobs, with the ends that they have not processed
-- fence: the transaction has the rows of job_due locked
with deleted as (
  delete from carillon.dependency where job_id = any (:job_ids::uuid[])
)
delete from carillon.dependency_event where job_id = any (:job_ids::uuid[]);

-- name: dependency.detach
-- purpose: deletes the dependencies on a job that is cancelled; the waiting jobs still process the ends of its earlier runs
-- fence: the transaction has the upstream job's row of job_due locked: no other transaction links a job to it
delete from carillon.dependency where upstream_id = :upstream_id returning job_id;

-- name: dependency.lock_namespace
-- purpose: prevents two concurrent changes in a namespace from closing a cycle together
-- fence: the row lock
select id from carillon.namespace where id = :namespace_id for no key update;

-- name: dependency.leads_to
-- purpose: whether one of these jobs waits, directly or through other jobs, for a job
-- fence: dependency.lock_namespace, in an earlier statement of the transaction
with recursive upstream (id) as (
  select unnest(:upstream_ids::uuid[])
  union
  select dependency.upstream_id from upstream join carillon.dependency on dependency.job_id = any (array[upstream.id])
)
select exists (select from upstream where id = :job_id) as leads;

-- name: dependency.list_neighbours
-- purpose: reads the upstream jobs of a job and the jobs that wait for it, up to :max of each
-- fence: none, a read
(
  select 'upstream' as side, dependency.upstream_id as job_id, job.key, dependency.on_status, dependency.condition,
         dependency.met_run_id, dependency.met_at, due.state
  from carillon.dependency
  join carillon.job on job.id = any (array[dependency.upstream_id])
  join carillon.job_due as due on due.job_id = any (array[dependency.upstream_id])
  where dependency.job_id = :job_id
  order by dependency.position
  limit :max
)
union all
(
  select 'downstream', waiting.job_id, job.key, waiting.on_status, waiting.condition, null, null, due.state
  from (select * from carillon.dependency where upstream_id = :job_id offset 0) as waiting
  join carillon.job on job.id = any (array[waiting.job_id])
  join carillon.job_due as due on due.job_id = any (array[waiting.job_id])
  order by waiting.job_id, waiting.position
  limit :max
);

-- name: dependency.list
-- purpose: reads the dependencies of locked jobs with their progress
-- fence: none, a read; sent after the lock of the jobs
select job_id, position, upstream_id, on_status, condition, met_run_id, met_at, seen_at
from carillon.dependency
where job_id = any (:job_ids::uuid[])
order by job_id, position;

-- name: dependency.save_progress
-- purpose: writes which dependencies of locked jobs are met
-- fence: the transaction has the rows of job_due locked
update carillon.dependency
set met_run_id = progress.met_run_id, met_at = progress.met_at, seen_at = progress.seen_at
from unnest(:job_ids::uuid[], :positions::smallint[], :met_run_ids::uuid[], :met_at::timestamptz[], :seen_at::timestamptz[])
  as progress (job_id, position, met_run_id, met_at, seen_at)
where dependency.job_id = any (array[progress.job_id]) and dependency.position = progress.position;

-- name: upstream_end.has_any
-- purpose: whether any job waits for another, or has an end to process
-- fence: none, a read
select exists (select from carillon.dependency) or exists (select from carillon.dependency_event where not deferred) as is_used;

-- name: upstream_end.find_waiting_jobs
-- purpose: reads jobs of some shards (null: of all) with ends to process
-- fence: none, a read; the caller locks the jobs and reads again
select distinct job_id
from (
  select job_id from carillon.dependency_event
  where not deferred and (:shards::smallint[] is null or shard = any (:shards))
  order by shard, number
  limit :limit
) as first_ends;

-- name: upstream_end.list
-- purpose: reads the ends that locked jobs have to process, in the order in which the runs ended, until the stored outputs and payloads
--   fill :max_bytes. An end without a status is a run whose row was deleted for another reason
-- fence: none, a read; sent after the lock of the jobs
select job_id, position, run_id, status, status_reason, attempt, output, error, payload, ended_at,
       policy ->> 'traceparent' as traceparent, policy ->> 'tracestate' as tracestate
from (
  select event.job_id, event.position, event.run_id, event.number, ended.status, ended.status_reason, ended.attempt, ended.output,
         ended.error, ended.payload, ended.policy, coalesce(ended.finished_at, event.ended_at) as ended_at,
         sum(ended.bytes) over (
           order by coalesce(ended.finished_at, event.ended_at), event.number rows between unbounded preceding and 1 preceding
         ) as bytes_before
  from carillon.dependency_event as event
  left join lateral (
    select status, status_reason, attempt, output, error, payload, policy, finished_at,
           coalesce(pg_column_size(output), 0) + coalesce(pg_column_size(payload), 0) as bytes
    from carillon.run_history
    where id = event.run_id and finished_at >= event.ended_at - interval '1 day'
    limit 1
  ) as ended on true
  where event.job_id = any (:job_ids::uuid[]) and event.deferred is not true
) as ends
where coalesce(bytes_before, 0) < :max_bytes
order by ended_at, number
limit :limit;

-- name: upstream_end.delete
-- purpose: deletes the ends that jobs have processed
-- fence: the transaction has the rows of job_due locked
delete from carillon.dependency_event as event
using unnest(:job_ids::uuid[], :positions::smallint[], :run_ids::uuid[]) as processed (job_id, position, run_id)
where event.job_id = any (array[processed.job_id]) and event.position = processed.position and event.run_id = processed.run_id;

-- name: upstream_end.defer
-- purpose: keeps the ends for paused jobs until they are resumed
-- fence: the transaction has the rows of job_due locked
update carillon.dependency_event set deferred = true where job_id = any (:job_ids::uuid[]) and deferred is not true;

-- name: upstream_end.count
-- purpose: counts the ends that a paused job has not processed, with the first and the last time
-- fence: none, a read
select count(*) as count, min(ended_at) as from_at, max(ended_at) as to_at
from carillon.dependency_event
where job_id = :job_id;

-- name: upstream_end.release
-- purpose: a resumed job gets the ends that it missed: all, the latest of each dependency, or none, as the caller chose. Returns how many
--   there were, and how many are dropped, with the first and the last time
-- fence: the transaction has the row of job_due locked
with missed as materialized (
  select position, run_id, ended_at,
         :choice = 'all' or :choice = 'latest' and row_number() over (partition by position order by number desc) = 1 as is_kept
  from carillon.dependency_event
  where job_id = :job_id
), released as (
  update carillon.dependency_event as event set deferred = false from missed
  where event.job_id = :job_id and event.position = missed.position and event.run_id = missed.run_id and missed.is_kept
), dropped as (
  delete from carillon.dependency_event as event using missed
  where event.job_id = :job_id and event.position = missed.position and event.run_id = missed.run_id and not missed.is_kept
)
select count(*) filter (where not is_kept) as count, min(ended_at) filter (where not is_kept) as from_at,
       max(ended_at) filter (where not is_kept) as to_at, count(*) as total
from missed;

-- name: upstream_run.trigger
-- purpose: reads the trigger of an ended run
-- fence: none, a read
select trigger from carillon.run_history where namespace_id = :namespace_id and id = :run_id and finished_at >= :not_before;

-- name: upstream_run.list
-- purpose: reads ended runs for the handlers of the runs that they started; an output of more than :max_bytes is left out
-- fence: none, a read
select ended.id, ended.job_id, job.key, ended.status, ended.status_reason, ended.finished_at, ended.error,
       case when octet_length(ended.output::text) <= :max_bytes then ended.output end as output,
       coalesce(octet_length(ended.output::text) > :max_bytes, false) as is_cut
from carillon.run_history as ended
left join carillon.job on job.id = any (array[ended.job_id])
where ended.namespace_id = :namespace_id and ended.id = any (:run_ids::uuid[]) and ended.finished_at >= :not_before;
