-- name: lane.newer
-- purpose: the lanes that the node does not know yet; there are three times as many as (queue, task) pairs
-- params: $1 highest id known int
-- fence: none, lanes never change
select id, queue, task, kind from carillon.lane where id > $1 order by id;

-- name: lane.ensure
-- purpose: makes the lanes that do not exist yet, each in all kinds, and answers all that were asked for
-- params: $1 queues text[], $2 tasks text[]
-- fence: unique (queue, task, kind)
with wanted as materialized (
  select distinct queue, task, kind
  from unnest($1::text[], $2::text[]) as w (queue, task) cross join (values ('plain'), ('solo'), ('lost')) as k (kind)
), made as (
  insert into carillon.lane (queue, task, kind)
  select queue, task, kind from wanted order by queue, task, kind
  on conflict (queue, task, kind) do nothing
  returning id, queue, task, kind
)
select id, queue, task, kind from made
union all
select l.id, l.queue, l.task, l.kind
from carillon.lane l join wanted w on w.queue = l.queue and w.task = l.task and w.kind = l.kind;
