-- name: task.newer
-- purpose: the tasks whose defaults changed since the node last asked
-- params: $1 highest revision known bigint
-- fence: none, a read; one that commits late has a lower revision than others that are visible, so callers look back a little
select n.name as namespace, t.namespace_id, t.name, t.defaults, t.revision
from carillon.task t join carillon.namespace n on n.id = t.namespace_id
where t.revision > $1
order by t.revision;

-- name: task.register
-- purpose: notes what a worker says about runs of its tasks, and answers what is other than before. A task that has the same already is
--   not written; one without a row that is said to have no defaults gets none
-- params: $1 namespace ids int[], $2 names text[], $3 defaults text[]
-- fence: primary key, in its order; of two that say different things the last one wins
with given as materialized (
  select i.id as namespace_id, g.name, g.defaults::json as defaults
  from unnest($1::int[]) as i (id) cross join unnest($2::text[], $3::text[]) as g (name, defaults)
), other as materialized (
  select g.namespace_id, g.name, g.defaults
  from given g left join carillon.task t on t.namespace_id = g.namespace_id and t.name = g.name
  where coalesce(t.defaults::jsonb, '{}') <> g.defaults::jsonb
), written as (
  insert into carillon.task as t (namespace_id, name, defaults)
  select namespace_id, name, defaults from other order by namespace_id, name
  on conflict (namespace_id, name) do update
  set defaults = excluded.defaults, revision = excluded.revision, updated_at = clock_timestamp()
  where t.defaults::jsonb <> excluded.defaults::jsonb
  returning t.namespace_id, t.name, t.defaults, t.revision
)
select n.name as namespace, w.namespace_id, w.name, w.defaults, w.revision
from written w join carillon.namespace n on n.id = w.namespace_id
order by w.revision;
