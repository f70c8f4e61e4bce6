-- name: lane.newer
-- purpose: the lanes that the node does not know yet; there are as many as (queue, task) pairs
-- params: $1 highest id known int
-- fence: none, lanes never change
select id, queue, task from carillon.lane where id > $1 order by id;

-- name: lane.ensure
-- purpose: makes the lanes that do not exist yet and answers all that were asked for
-- params: $1 queues text[], $2 tasks text[]
-- fence: unique (queue, task)
with wanted as materialized (
  select distinct queue, task from unnest($1::text[], $2::text[]) as w (queue, task)
), made as (
  insert into carillon.lane (queue, task)
  select queue, task from wanted order by queue, task
  on conflict (queue, task) do nothing
  returning id, queue, task
)
select id, queue, task from made
union all
select l.id, l.queue, l.task from carillon.lane l join wanted w on w.queue = l.queue and w.task = l.task;
