-- name: forecast.jobs
-- purpose: the jobs of some shards that fire before an instant, for a look ahead
-- params: $1 namespace id int, $2 shards smallint[], $3 until timestamptz, $4 most of each shard and class int
-- fence: none, a read
select d.job_id, j.key, j.schedule
from unnest($2::smallint[]) as s (id)
cross join generate_series(0, 2) as c (class)
cross join lateral (
  select d.job_id, d.namespace_id, d.state from carillon.job_due d
  where d.shard = s.id and d.class = c.class and d.next_fire_at is not null and d.next_fire_at < $3
  order by d.next_fire_at
  limit $4
) d
join carillon.job j on j.id = any (array[d.job_id])
where d.namespace_id = $1 and d.state = 'active';

-- name: forecast.at
-- purpose: how many jobs fire next within a span, counted up to a limit
-- params: $1 namespace id int, $2 shards smallint[], $3 from timestamptz, $4 before timestamptz, $5 most int
-- fence: none, a read
select count(*) as count
from (
  select 1
  from unnest($2::smallint[]) as s (id)
  cross join generate_series(0, 2) as c (class)
  cross join lateral (
    select d.namespace_id, d.state from carillon.job_due d
    where d.shard = s.id and d.class = c.class and d.next_fire_at >= $3 and d.next_fire_at < $4
    limit $5
  ) d
  where d.namespace_id = $1 and d.state = 'active'
  limit $5
) found;
