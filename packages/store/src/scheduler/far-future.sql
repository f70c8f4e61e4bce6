-- One-off jobs whose time is far away (table far_future_run). A row moves from there to run and never back. A statement that reads one
-- such run reads far_future_run first, or both tables at once, and so never misses a run that is being moved.

-- name: far_future.scan
-- purpose: reads the shards with runs to promote, each with the due time of its first one
-- fence: none: the result is a hint, the promotion reads again
select scanned.shard, first_run.run_at
from unnest(:shards::smallint[], :starts_at::timestamptz[]) as scanned (shard, starts_at)
cross join lateral (
  select run_at from carillon.far_future_run
  where shard = scanned.shard and run_at >= scanned.starts_at and run_at < :until
  order by run_at
  limit 1
) as first_run;

-- name: far_future.promote
-- purpose: the owner of some shards moves their first runs to run; those that are due by then are queued at once
-- fence: (shard, owner, epoch) under a share lock; one statement, so that a run is in exactly one of the two tables
with owned_shards as materialized (
  select shard.id, held.starts_at
  from carillon.shard
  join unnest(:shards::smallint[], :epochs::bigint[], :starts_at::timestamptz[]) as held (id, epoch, starts_at) on held.id = shard.id
  where shard.owner = :node and shard.epoch = held.epoch
  order by shard.id
  for share of shard
), locked as materialized (
  select first_runs.tuple_id
  from owned_shards
  cross join lateral (
    select ctid as tuple_id from carillon.far_future_run
    where shard = owned_shards.id and run_at >= owned_shards.starts_at and run_at < :until
    order by run_at
    limit :limit_per_shard
    for update skip locked
  ) as first_runs
), moved as (
  delete from carillon.far_future_run where ctid = any (array(select tuple_id from locked)) returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, deadline_at)
select moved.id, moved.id, moved.namespace_id, moved.shard, moved.lane,
       case when moved.run_at <= clock_timestamp() then 'queued' else 'scheduled' end,
       moved.priority, moved.rank, moved.run_at, moved.run_at, moved.created_at, 'once', lane.task, lane.queue, moved.payload,
       moved.policy, moved.labels, moved.owner, moved.deadline_at
from moved join carillon.lane on lane.id = moved.lane
on conflict (id) do nothing
returning id, shard, lane, rank, namespace_id as "namespaceId", run_at, state;
