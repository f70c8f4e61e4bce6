-- One-off jobs whose time is far away (table far_future_run). A row moves from there to run and never back. A statement that reads one
-- such run reads far_future_run first, or both tables at once, and so never misses a run that is being moved.

-- name: far_future.scan
-- purpose: the shards with runs to promote, each with the due time of its first one
-- params: $1 shards smallint[], $2 from when timestamptz[], $3 until timestamptz
-- fence: none: the result is only a hint, the promotion reads again
select s.id as shard, d.run_at
from unnest($1::smallint[], $2::timestamptz[]) as s (id, starts_at)
cross join lateral (
  select run_at from carillon.far_future_run
  where shard = s.id and run_at >= s.starts_at and run_at < $3
  order by run_at
  limit 1
) d;

-- name: far_future.promote
-- purpose: moves the first runs of some shards into the hot table; those that are due by then are queued at once
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 from when timestamptz[], $5 until timestamptz,
--         $6 limit per shard int
-- fence: (shard, owner, epoch) under a share lock; one statement, so that a run is in exactly one of the two tables
with fence as materialized (
  select s.id, f.starts_at
  from carillon.shard s join unnest($1::smallint[], $2::bigint[], $4::timestamptz[]) as f (id, epoch, starts_at) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), pick as materialized (
  select d.place
  from fence f
  cross join lateral (
    select ctid as place from carillon.far_future_run
    where shard = f.id and run_at >= f.starts_at and run_at < $5
    order by run_at
    limit $6
    for update skip locked
  ) d
), gone as (
  delete from carillon.far_future_run where ctid = any (array(select place from pick)) returning *
)
insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                          trigger, task, queue, payload, policy, labels, owner, deadline_at)
select g.id, g.id, g.namespace_id, g.shard, g.lane,
       case when g.run_at <= clock_timestamp() then 'queued' else 'scheduled' end,
       g.priority, g.rank, g.run_at, g.run_at, g.created_at, 'once', l.task, l.queue, g.payload, g.policy, g.labels, g.owner,
       g.deadline_at
from gone g join carillon.lane l on l.id = g.lane
on conflict (id) do nothing
returning id, shard, lane, rank, namespace_id as "namespaceId", run_at, state;
