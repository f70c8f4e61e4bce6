-- name: explain.surroundings
-- purpose: reads what decides whether a live run can start, apart from the run itself: its queue and its lane
-- fence: none, a read
select lane.kind as lane_kind, lane.requires, queue.pause, queue.order_kind, clock_timestamp() as now
from carillon.run
join carillon.lane on lane.id = run.lane
left join carillon.queue on queue.namespace_id = run.namespace_id and queue.name = run.queue
where run.namespace_id = :namespace_id and run.id = :run_id;

-- name: explain.position
-- purpose: counts the queued runs of the same queue that start before a run, all its queued runs and its running runs, up to
--   :max_per_lane in each lane
-- fence: none, a read
with this_run as materialized (
  select id, rank, queue from carillon.run where namespace_id = :namespace_id and id = :run_id
), live as materialized (
  select lane_run.rank, lane_run.id, lane_run.state
  from this_run
  join carillon.lane on lane.queue = this_run.queue and lane.kind <> 'gated'
  cross join lateral (
    select run.rank, run.id, run.state from carillon.run
    where run.lane = lane.id and run.namespace_id = :namespace_id and run.stage = 1
      and (run.state <> 'queued' or run.run_at <= statement_timestamp())
    order by run.rank
    limit :max_per_lane
  ) as lane_run
)
select count(*) filter (where live.state = 'queued' and (live.rank, live.id) < (this_run.rank, this_run.id)) as ahead,
       count(*) filter (where live.state = 'queued') as of,
       count(*) filter (where live.state = 'running') as running
from this_run left join live on true;

-- name: forecast.list_jobs
-- purpose: reads the jobs of some shards that fire before an instant, up to :max_per_shard of each shard and class
-- fence: none, a read
select due.job_id, job.key, job.schedule
from unnest(:shards::smallint[]) as requested_shard (id)
cross join generate_series(0, 2) as urgency (class)
cross join lateral (
  select job_id, namespace_id, state from carillon.job_due
  where shard = requested_shard.id and class = urgency.class and next_fire_at is not null and next_fire_at < :until
  order by next_fire_at
  limit :max_per_shard
) as due
join carillon.job on job.id = any (array[due.job_id])
where due.namespace_id = :namespace_id and due.state = 'active';

-- name: forecast.count
-- purpose: counts the jobs whose next fire is within a span, up to :max
-- fence: none, a read
select count(*) as count
from (
  select 1
  from unnest(:shards::smallint[]) as requested_shard (id)
  cross join generate_series(0, 2) as urgency (class)
  cross join lateral (
    select namespace_id, state from carillon.job_due
    where shard = requested_shard.id and class = urgency.class and next_fire_at >= :from_at and next_fire_at < :before
    limit :max
  ) as due
  where due.namespace_id = :namespace_id and due.state = 'active'
  limit :max
) as found;
