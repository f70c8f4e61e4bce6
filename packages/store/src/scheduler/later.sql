-- One-off jobs that wait far from their time. A row goes from here to run and never back; whoever looks for one looks here first,
-- or here and in run in one statement, and so never misses one that is just being moved.

-- name: later.look
-- purpose: the shards that have something to move, and from when
-- params: $1 shards smallint[], $2 from when timestamptz[], $3 until timestamptz
-- fence: none: what is seen is only a hint, the move looks again
select s.id as shard, d.run_at
from unnest($1::smallint[], $2::timestamptz[]) as s (id, starts_at)
cross join lateral (
  select run_at from carillon.run_later
  where shard = s.id and run_at >= s.starts_at and run_at < $3
  order by run_at
  limit 1
) d;

-- name: later.move
-- purpose: moves the first runs of some shards into the hot table; what is due by then is queued at once
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
    select ctid as place from carillon.run_later
    where shard = f.id and run_at >= f.starts_at and run_at < $5
    order by run_at
    limit $6
    for update skip locked
  ) d
), gone as (
  delete from carillon.run_later where ctid = any (array(select place from pick)) returning *
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
