-- name: explain.run
-- purpose: what decides over a live run beside the run itself: its queue and its lane
-- params: $1 namespace id int, $2 run id uuid
-- fence: none, a read
select l.kind as lane_kind, l.requires, q.pause, q.order_kind, clock_timestamp() as now
from carillon.run r
join carillon.lane l on l.id = r.lane
left join carillon.queue q on q.namespace_id = r.namespace_id and q.name = r.queue
where r.namespace_id = $1 and r.id = $2;

-- name: explain.position
-- purpose: how many queued runs of the same queue go before a run, how many there are and how many are at work, counted up to a
--   limit in each lane
-- params: $1 namespace id int, $2 run id uuid, $3 most of each lane int
-- fence: none, a read
with me as materialized (
  select r.id, r.rank, r.queue from carillon.run r where r.namespace_id = $1 and r.id = $2
), live as materialized (
  select q.rank, q.id, q.state
  from me
  join carillon.lane l on l.queue = me.queue and l.kind <> 'gated'
  cross join lateral (
    select r.rank, r.id, r.state from carillon.run r
    where r.lane = l.id and r.namespace_id = $1 and r.stage = 1 and (r.state <> 'queued' or r.run_at <= statement_timestamp())
    order by r.rank
    limit $3
  ) q
)
select count(*) filter (where q.state = 'queued' and (q.rank, q.id) < (me.rank, me.id)) as ahead,
       count(*) filter (where q.state = 'queued') as of,
       count(*) filter (where q.state = 'running') as running
from me left join live q on true;
