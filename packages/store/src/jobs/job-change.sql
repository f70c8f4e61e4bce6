-- name: job_change.touch
-- purpose: a node that changes jobs writes the new version, the pause and the end of each: the columns that every kind of change has
-- fence: version; the transaction has the rows of job_due locked
update carillon.job
set version = changed.version, pause = changed.pause::json, ended_at = changed.ended_at, updated_at = clock_timestamp()
from unnest(:ids::uuid[], :expected_versions::int[], :versions::int[], :pauses::text[], :ended_at::timestamptz[])
  as changed (id, expected_version, version, pause, ended_at)
where job.id = any (array[changed.id]) and job.version = changed.expected_version
returning job.id;

-- name: job_change.keep_version
-- purpose: keeps the definition that the same transaction replaces
-- fence: primary key; the transaction has the row of job_due locked
insert into carillon.job_version (job_id, namespace_id, version, definition, valid_from, valid_to, replaced_by)
select id, namespace_id, :version, :definition::json, :valid_from, :valid_to, :replaced_by from carillon.job where id = :job_id;

-- name: job_change.redefine
-- purpose: replaces the definition of a job; :version is the version that job_change.touch has just written
-- fence: version; the transaction has the row of job_due locked
update carillon.job
set lane = :lane, task = :task, queue = :queue, priority = :priority, payload = :payload::json, schedule = :schedule::json,
    policy = :policy::json, firing = :firing::json, labels = :labels::jsonb, owner = :owner, defined_at = :defined_at
where id = :id and version = :version
returning id;

-- name: job_change.definition_as_of
-- purpose: reads the replaced definition that was in force as of a version. It is stored under the last version that it had
-- fence: none, a read
select version, definition from carillon.job_version
where job_id = :job_id and version >= :version
order by version
limit 1;

-- name: job_change.list_versions
-- purpose: reads a keyset page of the definitions that were replaced, the newest first
-- fence: none, a read
select version, definition, valid_from, valid_to, replaced_by
from carillon.job_version
where job_id = :job_id and (:before_version::int is null or version < :before_version)
order by version desc
limit :limit;

-- name: job_change.list_occurrences
-- purpose: reads a keyset page of the ledger of a job, the newest first
-- fence: none, a read
select version, reason, from_at, to_at, count, detail
from carillon.occurrence
where job_id = :job_id
  and (from_at, version, reason)
    < (coalesce(:before_from::timestamptz, 'infinity'), coalesce(:before_version::int, 0), coalesce(:before_reason::text, ''))
order by from_at desc, version desc, reason desc
limit :limit;

-- name: job_change.lock_run
-- purpose: locks the run as which a one-off job is stored, and reads its state
-- fence: the row lock
select id,
       --+ run.shown_state
       as state
from carillon.run where namespace_id = :namespace_id and id = :id and job_id = id for update;

-- name: job_change.adopt_live_run
-- purpose: stores a job for the run as which a one-off job is stored. A run that is still scheduled is deleted, because its job fires it
--   instead, however late: a one-off job has no policy for missed occurrences
-- fence: the transaction has the run's row locked; primary key of job
with locked_run as materialized (
  select id,
         --+ run.shown_state
         = 'scheduled' as is_scheduled
  from carillon.run where id = :id
), inserted as (
  insert into carillon.job (id, namespace_id, shard, lane, task, queue, priority, payload, schedule, policy, labels, owner,
                            created_at, updated_at)
  select id, namespace_id, shard, lane, task, queue, priority, payload,
         json_build_object('kind', 'at', 'at', (extract(epoch from nominal_at) * 1000)::bigint), policy,
         coalesce(labels, '{}'), owner, created_at, created_at
  from carillon.run where id = :id
  on conflict do nothing
  returning id
), deleted_run as (
  delete from carillon.run
  using inserted join locked_run on locked_run.id = inserted.id and locked_run.is_scheduled
  where run.id = any (array[inserted.id])
  returning run.id
)
insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, next_nominal_at, next_fire_at, fired_through,
                              fired_count, runs_made, run_ids, catch_up_to, defined_at)
select run.id, run.namespace_id, run.shard, :class, case when is_scheduled then 'active' else 'completed' end, 1,
       case when is_scheduled then run.nominal_at end, case when is_scheduled then run.run_at end,
       case when is_scheduled then null else run.nominal_at end, case when is_scheduled then 0 else 1 end,
       case when is_scheduled then 0 else 1 end, case when is_scheduled then '{}' else array[run.id] end,
       case when is_scheduled and run.run_at <= clock_timestamp() then run.nominal_at end, run.created_at
from carillon.run join inserted on run.id = any (array[inserted.id]) join locked_run on run.id = any (array[locked_run.id])
returning job_id;

-- name: job_change.adopt_ended_run
-- purpose: stores a job for a one-off job whose run has ended. A cancelled run stays without one
-- fence: primary key of job
with inserted as (
  insert into carillon.job (id, namespace_id, shard, lane, task, queue, priority, payload, schedule, policy, labels, owner,
                            created_at, updated_at)
  select id, namespace_id, :shard, :lane, task, queue, priority, payload,
         json_build_object('kind', 'at', 'at', (extract(epoch from nominal_at) * 1000)::bigint), policy,
         coalesce(labels, '{}'), owner, created_at, finished_at
  from carillon.run_history where id = :id and job_id = id and finished_at >= :not_before and status <> 'cancelled'
  on conflict do nothing
  returning id, namespace_id, shard
)
insert into carillon.job_due (job_id, namespace_id, shard, class, state, version, fired_through, fired_count, runs_made,
                              run_ids, defined_at)
select inserted.id, inserted.namespace_id, inserted.shard, :class, 'completed', 1, ended.nominal_at, 1, 1, array[inserted.id],
       ended.created_at
from inserted join carillon.run_history as ended on ended.id = inserted.id and ended.finished_at >= :not_before
returning job_id;

-- name: job_change.promote_run
-- purpose: moves the run as which a one-off job is stored from far_future_run to run, so that job_change.lock_run finds it
-- fence: the row lock: of this statement and far_future.promote, one finds the row gone
with moved as (
  delete from carillon.far_future_run where namespace_id = :namespace_id and id = :id returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, deadline_at)
select moved.id, moved.id, moved.namespace_id, moved.shard, moved.lane, 'scheduled', moved.priority, moved.rank, moved.run_at,
       moved.run_at, moved.created_at, 'once', lane.task, lane.queue, moved.payload, moved.policy, moved.labels, moved.owner,
       moved.deadline_at
from moved join carillon.lane on lane.id = moved.lane;
