-- name: lane.newer
-- purpose: the lanes that the node does not know yet; there are at least three times as many as (queue, task) pairs
-- params: $1 highest id known int
-- fence: none, lanes never change
select id, queue, task, kind, requires from carillon.lane where id > $1 order by id;

-- name: lane.ensure
-- purpose: makes the lanes that do not exist yet, and answers all that were asked for. One that is not of a strict queue is made
--   in all kinds to which its runs can change over
-- params: $1 queues text[], $2 tasks text[], $3 kinds text[], $4 what they require text[]
-- fence: unique (queue, task, kind, requires)
with wanted as materialized (
  select distinct w.queue, w.task, k.kind, w.requires
  from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w (queue, task, kind, requires)
  join (values ('plain'), ('solo'), ('lost'), ('strict'), ('strict_once'), ('gated'), ('admitted')) as k (kind)
    on k.kind = w.kind or k.kind in ('plain', 'solo', 'lost') and w.kind in ('plain', 'solo', 'lost')
      or k.kind in ('gated', 'admitted') and w.kind in ('gated', 'admitted')
), made as (
  insert into carillon.lane (queue, task, kind, requires)
  select queue, task, kind, requires from wanted order by queue, task, kind, requires
  on conflict (queue, task, kind, requires) do nothing
  returning id, queue, task, kind, requires
)
select id, queue, task, kind, requires from made
union all
select l.id, l.queue, l.task, l.kind, l.requires
from carillon.lane l join wanted w
  on w.queue = l.queue and w.task = l.task and w.kind = l.kind and w.requires = l.requires;

-- name: lane.tasks_of
-- purpose: the tasks that were ever put into a queue, up to a number
-- params: $1 queue text, $2 how many at most int
-- fence: none, a read
select distinct task from carillon.lane where queue = $1 limit $2;
