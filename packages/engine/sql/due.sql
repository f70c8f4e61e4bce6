-- name: due.load
-- purpose: the jobs of the given shards that are due before an instant, for the wheel, soonest first within a class
-- params: $1 shards smallint[], $2 until timestamptz, $3 limit per shard and class int
-- fence: none: what is loaded is only a hint, the fire compares again
select d.job_id, d.shard, d.class, d.version, d.next_nominal_at, d.next_fire_at, d.fired_count, d.max_runs,
       j.schedule, j.priority
from unnest($1::smallint[]) as s (id)
cross join generate_series(0, 2) as c (class)
cross join lateral (
  select job_id, shard, class, version, next_nominal_at, next_fire_at, fired_count, max_runs
  from carillon.job_due
  where shard = s.id and class = c.class and state = 'active' and next_fire_at is not null and next_fire_at < $2
  order by next_fire_at
  limit $3
) d
join carillon.job j on j.id = d.job_id;

-- name: due.fire
-- purpose: turns due occurrences into runs and moves each job to its next time, in one step
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job ids uuid[], $5 versions int[],
--         $6 nominals timestamptz[], $7 run ids uuid[], $8 ranks bigint[], $9 next nominals timestamptz[],
--         $10 next fires timestamptz[]
-- fence: (shard, owner, epoch) under a share lock; (version, next_nominal_at, fired_through) compared on the locked row
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), input as materialized (
  select * from unnest(
    $4::uuid[], $5::int[], $6::timestamptz[], $7::uuid[], $8::bigint[], $9::timestamptz[], $10::timestamptz[]
  ) as i (job_id, version, nominal_at, run_id, rank, next_nominal_at, next_fire_at)
), pick as materialized (
  select d.job_id, d.next_fire_at as fire_at, d.max_runs is not null and d.fired_count + 1 >= d.max_runs as is_last
  from carillon.job_due d join input i on i.job_id = d.job_id
  where d.shard in (select id from fence)
    and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at
    and (d.fired_through is null or i.nominal_at > d.fired_through)
    and d.next_fire_at <= clock_timestamp()
  order by d.job_id
  for update of d skip locked
), moved as (
  update carillon.job_due d
  set fired_through = i.nominal_at,
      fired_count = d.fired_count + 1,
      next_nominal_at = case when p.is_last then null else i.next_nominal_at end,
      next_fire_at = case when p.is_last then null else i.next_fire_at end,
      state = case when p.is_last or i.next_nominal_at is null then 'completed' else d.state end
  from pick p join input i on i.job_id = p.job_id
  where d.job_id = p.job_id
  returning d.job_id
), made as (
  insert into carillon.run (id, job_id, namespace_id, shard, lane, state, priority, rank, run_at, nominal_at, created_at,
                            trigger, task, queue, payload, policy, labels, owner)
  select i.run_id, j.id, j.namespace_id, j.shard, j.lane, 'queued', j.priority, i.rank, p.fire_at, i.nominal_at,
         clock_timestamp(), 'schedule', j.task, j.queue, j.payload, j.policy, nullif(j.labels, '{}'), j.owner
  from pick p join input i on i.job_id = p.job_id join carillon.job j on j.id = p.job_id
  on conflict (id) do nothing
  returning id, job_id, lane, rank, created_at, run_at
)
select p.job_id, p.is_last, m.id as run_id, m.lane, m.rank, m.created_at, m.run_at
from pick p left join made m on m.job_id = p.job_id;

-- name: due.skip
-- purpose: passes over occurrences that the misfire policy does not fire, with a ledger entry for each range
-- params: $1 shards smallint[], $2 epochs bigint[], $3 node uuid, $4 job ids uuid[], $5 versions int[],
--         $6 expected nominals timestamptz[], $7 last skipped nominals timestamptz[], $8 counts bigint[], $9 reasons text[],
--         $10 next nominals timestamptz[], $11 next fires timestamptz[]
-- fence: as due.fire
with fence as materialized (
  select s.id
  from carillon.shard s join unnest($1::smallint[], $2::bigint[]) as f (id, epoch) on f.id = s.id
  where s.owner = $3 and s.epoch = f.epoch
  order by s.id
  for share of s
), input as materialized (
  select * from unnest(
    $4::uuid[], $5::int[], $6::timestamptz[], $7::timestamptz[], $8::bigint[], $9::text[], $10::timestamptz[], $11::timestamptz[]
  ) as i (job_id, version, nominal_at, through_at, count, reason, next_nominal_at, next_fire_at)
), pick as materialized (
  select d.job_id
  from carillon.job_due d join input i on i.job_id = d.job_id
  where d.shard in (select id from fence)
    and d.state = 'active' and d.version = i.version and d.next_nominal_at = i.nominal_at
    and (d.fired_through is null or i.nominal_at > d.fired_through)
    and d.next_fire_at <= clock_timestamp()
  order by d.job_id
  for update of d skip locked
), moved as (
  update carillon.job_due d
  set fired_through = i.through_at,
      next_nominal_at = i.next_nominal_at,
      next_fire_at = i.next_fire_at,
      state = case when i.next_nominal_at is null then 'completed' else d.state end
  from pick p join input i on i.job_id = p.job_id
  where d.job_id = p.job_id
  returning d.job_id, d.namespace_id
), noted as (
  insert into carillon.occurrence (job_id, namespace_id, version, reason, from_at, to_at, count, recorded_at)
  select m.job_id, m.namespace_id, i.version, i.reason, i.nominal_at, i.through_at, i.count, clock_timestamp()
  from moved m join input i on i.job_id = m.job_id
)
select job_id from moved;
