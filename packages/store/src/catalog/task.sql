-- name: task.newer
-- purpose: the tasks whose defaults changed since the node last asked
-- fence: none, a read; a change that commits late has a lower revision than others that are visible, so callers read some revisions
--   again
select namespace.name as namespace, task.namespace_id, task.name, task.defaults, task.revision
from carillon.task join carillon.namespace on namespace.id = task.namespace_id
where task.revision > :revision
order by task.revision;

-- name: task.register
-- purpose: stores the defaults that a worker has for runs of its tasks, and returns those that changed. A task whose defaults are
--   the same is not written; a task without a row and without defaults gets none
-- fence: primary key, in its order; of two workers with different defaults the last one wins
with given as materialized (
  select target.id as namespace_id, input.name, input.defaults::json as defaults
  from unnest(:namespace_ids::int[]) as target (id) cross join unnest(:names::text[], :defaults::text[]) as input (name, defaults)
), changed as materialized (
  select given.namespace_id, given.name, given.defaults
  from given left join carillon.task on task.namespace_id = given.namespace_id and task.name = given.name
  where coalesce(task.defaults::jsonb, '{}') <> given.defaults::jsonb
), written as (
  insert into carillon.task (namespace_id, name, defaults)
  select namespace_id, name, defaults from changed order by namespace_id, name
  on conflict (namespace_id, name) do update
  set defaults = excluded.defaults, revision = excluded.revision, updated_at = clock_timestamp()
  where task.defaults::jsonb <> excluded.defaults::jsonb
  returning task.namespace_id, task.name, task.defaults, task.revision
)
select namespace.name as namespace, written.namespace_id, written.name, written.defaults, written.revision
from written join carillon.namespace on namespace.id = written.namespace_id
order by written.revision;
