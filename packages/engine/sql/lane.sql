-- name: lane.newer
-- purpose: the lanes that the node does not know yet; there are twice as many as (queue, task) pairs
-- params: $1 highest id known int
-- fence: none, lanes never change
select id, queue, task, solo from carillon.lane where id > $1 order by id;

-- name: lane.ensure
-- purpose: makes the lanes that do not exist yet, each with its twin, and answers all that were asked for
-- params: $1 queues text[], $2 tasks text[]
-- fence: unique (queue, task, solo)
with wanted as materialized (
  select distinct queue, task, solo
  from unnest($1::text[], $2::text[]) as w (queue, task) cross join (values (false), (true)) as s (solo)
), made as (
  insert into carillon.lane (queue, task, solo)
  select queue, task, solo from wanted order by queue, task, solo
  on conflict (queue, task, solo) do nothing
  returning id, queue, task, solo
)
select id, queue, task, solo from made
union all
select l.id, l.queue, l.task, l.solo
from carillon.lane l join wanted w on w.queue = l.queue and w.task = l.task and w.solo = l.solo;
