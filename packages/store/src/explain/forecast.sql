-- name: forecast.list_jobs
-- purpose: Reads the jobs of some shards that fire before an instant, up to :max_per_shard of each shard and class.
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
-- purpose: Counts the jobs whose next fire is within a span, up to :max.
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
