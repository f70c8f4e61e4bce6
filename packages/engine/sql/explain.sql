-- name: explain.run
-- purpose: what decides over a live run beside the run itself: its queue, its lane, its limits
-- params: $1 namespace id int, $2 run id uuid
-- fence: none, a read
select r.limits, l.kind as lane_kind, q.pause, q.order_kind, q.limits as queue_limits, n.limits as namespace_limits,
       clock_timestamp() as now
from carillon.run r
join carillon.lane l on l.id = r.lane
join carillon.namespace n on n.id = r.namespace_id
left join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
where r.namespace_id = $1 and r.id = $2;

-- name: explain.position
-- purpose: how many queued runs of the same queue go before a run, and how many there are, counted up to a limit in each lane
-- params: $1 namespace id int, $2 run id uuid, $3 most of each lane int
-- fence: none, a read
with me as materialized (
  select r.id, r.rank, r.queue from carillon.run r where r.namespace_id = $1 and r.id = $2
), queued as materialized (
  select q.rank, q.id
  from me
  join carillon.lane l on l.queue = me.queue and l.kind <> 'gated'
  cross join lateral (
    select r.rank, r.id from carillon.run r
    where r.lane = l.id and r.namespace_id = $1 and r.stage = 1 and r.state = 'queued'
    order by r.rank
    limit $3
  ) q
)
select count(*) filter (where (q.rank, q.id) < (me.rank, me.id)) as ahead, count(*) as of
from me left join queued q on true;

-- name: explain.gate
-- purpose: how many runs stand before a run behind the same gate, counted up to a limit
-- params: $1 gate text, $2 run id uuid, $3 most int
-- fence: none, a read
with waiting as materialized (
  select r.id, row_number() over (order by case when $1 like 'o:%' then r.nominal_at end, r.rank, r.id) as place
  from (
    select r.id, r.rank, r.nominal_at from carillon.run r
    where split_part(r.limits, E'\n', 1) = $1 and r.stage = 3 and r.limits is not null
    limit $3
  ) r
)
select (select place - 1 from waiting where id = $2) as ahead, count(*) as of from waiting;

-- name: explain.limits
-- purpose: limits as they stand
-- params: $1 namespace id int, $2 scopes text[], $3 kinds text[], $4 names text[]
-- fence: none, a read
select k.scope, k.kind, k.name, k.most, k.per_ms, k.burst, k.used, k.starts, k.stopped_by,
       (select h.run_id from carillon.limit_hold h where h.limit_id = k.id order by h.admitted_at limit 1) as held_by
from carillon.limit_key k
where k.namespace_id = $1 and (k.scope, k.kind, k.name) in (select * from unnest($2::text[], $3::text[], $4::text[]));
