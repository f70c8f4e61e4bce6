-- name: lane.newer
-- purpose: the lanes that the node does not know yet; there are at least three times as many as (queue, task) pairs
-- fence: none, lanes never change
select id, queue, task, kind, requires from carillon.lane where id > :highest_id order by id;

-- name: lane.ensure
-- purpose: creates the lanes that do not exist yet, and returns all that were requested. One that is not of a strict queue is
--   created in all kinds to which its runs can change
-- fence: unique (queue, task, kind, requires)
with wanted as materialized (
  select distinct input.queue, input.task, made.kind, input.requires
  from unnest(:queues::text[], :tasks::text[], :kinds::text[], :requires::text[]) as input (queue, task, kind, requires)
  join (values ('plain'), ('solo'), ('lost'), ('strict'), ('strict_once'), ('gated'), ('admitted')) as made (kind)
    on made.kind = input.kind or made.kind in ('plain', 'solo', 'lost') and input.kind in ('plain', 'solo', 'lost')
      or made.kind in ('gated', 'admitted') and input.kind in ('gated', 'admitted')
), made as (
  insert into carillon.lane (queue, task, kind, requires)
  select queue, task, kind, requires from wanted order by queue, task, kind, requires
  on conflict (queue, task, kind, requires) do nothing
  returning id, queue, task, kind, requires
)
select id, queue, task, kind, requires from made
union all
select lane.id, lane.queue, lane.task, lane.kind, lane.requires
from carillon.lane join wanted
  on wanted.queue = lane.queue and wanted.task = lane.task and wanted.kind = lane.kind and wanted.requires = lane.requires;

-- name: lane.list_tasks
-- purpose: the tasks that were ever put into a queue, up to a number
-- fence: none, a read
select distinct task from carillon.lane where queue = :queue limit :limit;
